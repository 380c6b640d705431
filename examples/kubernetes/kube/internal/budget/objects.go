package budget

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// asMetadata reports whether only the metadata of objects is requested.
func asMetadata(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// shown returns what a request is answered with: an object, or its metadata.
func shown(o *unstructured.Unstructured, metadata bool) map[string]any {
	if !metadata {
		return o.Object
	}
	return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": o.Object["metadata"]}
}

// selected returns which objects a list or a watch is about.
func selected(r *http.Request, namespace string) func(*unstructured.Unstructured) bool {
	query := r.URL.Query()
	labelled, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		panic(err)
	}
	having, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		panic(err)
	}
	return func(o *unstructured.Unstructured) bool {
		if namespace != "" && o.GetNamespace() != namespace || !labelled.Matches(labels.Set(o.GetLabels())) {
			return false
		}
		return !slices.ContainsFunc(having.Requirements(), func(q fields.Requirement) bool {
			is, _, _ := unstructured.NestedString(o.Object, strings.Split(q.Field, ".")...)
			return is != q.Value
		})
	}
}

func (s *Server) list(w http.ResponseWriter, k *kind, wanted func(*unstructured.Unstructured) bool, metadata bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []any{}
	for _, o := range k.objects {
		if wanted(o) {
			items = append(items, shown(o, metadata))
		}
	}
	version, name := k.gvk.GroupVersion().String(), k.gvk.Kind+"List"
	if metadata {
		version, name = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	data, _ := json.Marshal(map[string]any{"apiVersion": version, "kind": name, "metadata": map[string]any{"resourceVersion": fmt.Sprint(s.revision)}, "items": items})
	_, _ = w.Write(data)
}

func (s *Server) get(w http.ResponseWriter, k *kind, namespace, name string, metadata bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := k.find(namespace, name)
	if i < 0 {
		refuse(w, http.StatusNotFound, "NotFound")
		return
	}
	data, _ := json.Marshal(shown(k.objects[i], metadata))
	_, _ = w.Write(data)
}

// find returns the index of an object, or -1.
func (k *kind) find(namespace, name string) int {
	return slices.IndexFunc(k.objects, func(o *unstructured.Unstructured) bool { return o.GetName() == name && o.GetNamespace() == namespace })
}

// answer sends an object.
func answer(w http.ResponseWriter, r *http.Request, o *unstructured.Unstructured) {
	data, _ := json.Marshal(shown(o, asMetadata(r)))
	_, _ = w.Write(data)
}

// create adds an object.
func (s *Server) create(w http.ResponseWriter, r *http.Request, k *kind, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := &unstructured.Unstructured{}
	if json.NewDecoder(r.Body).Decode(&next.Object) != nil {
		refuse(w, http.StatusBadRequest, "BadRequest")
		return
	}
	next.SetGroupVersionKind(k.gvk)
	next.SetNamespace(namespace)
	if next.GetName() == "" {
		next.SetName(fmt.Sprint(next.GetGenerateName(), s.revision))
	}
	if k.find(namespace, next.GetName()) >= 0 {
		refuse(w, http.StatusConflict, "AlreadyExists")
		return
	}
	next, err := k.managed(nil, next, r)
	if err != nil {
		refuseError(w, err)
		return
	}
	w.WriteHeader(http.StatusCreated)
	answer(w, r, s.add(k, next))
}

// add adds an object that is new. The lock must be held.
func (s *Server) add(k *kind, next *unstructured.Unstructured) *unstructured.Unstructured {
	s.revision++
	next.SetUID(types.UID(fmt.Sprint("u", s.revision)))
	next.SetResourceVersion(fmt.Sprint(s.revision))
	next.SetCreationTimestamp(metav1.Now())
	next.SetGeneration(1)
	k.objects = append(k.objects, next)
	k.send(nil, next)
	s.play(k, len(k.objects)-1)
	return next
}

// play lets the controllers of the cluster act on an object that was written.
func (s *Server) play(k *kind, i int) {
	if s.Play == nil {
		return
	}
	next := k.objects[i].DeepCopy()
	if s.Play(next) {
		s.change(k, i, next)
	}
}

// store replaces an object by what a request makes of it. The lock must be held.
func (s *Server) store(w http.ResponseWriter, r *http.Request, k *kind, i int, next *unstructured.Unstructured) {
	old := k.objects[i]
	if v := next.GetResourceVersion(); v != "" && v != old.GetResourceVersion() || next.GetUID() != "" && next.GetUID() != old.GetUID() {
		refuse(w, http.StatusConflict, "Conflict")
		return
	}
	next.SetUID(old.GetUID())
	next.SetResourceVersion(old.GetResourceVersion())
	next.SetCreationTimestamp(old.GetCreationTimestamp())
	next.SetDeletionTimestamp(old.GetDeletionTimestamp())
	next.SetGeneration(old.GetGeneration())
	if !reflect.DeepEqual(content(old), content(next)) {
		next.SetGeneration(old.GetGeneration() + 1)
	}
	if r.URL.Query().Get("dryRun") != "" || reflect.DeepEqual(untimed(old), untimed(next)) {
		answer(w, r, next)
		return
	}
	if next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 {
		s.drop(k, i, next)
		answer(w, r, next)
		return
	}
	s.change(k, i, next)
	answer(w, r, next)
	s.play(k, i)
}

// untimed returns an object without the times of its managers, which alone are no change.
func untimed(o *unstructured.Unstructured) map[string]any {
	all := o.DeepCopy()
	managers := all.GetManagedFields()
	for i := range managers {
		managers[i].Time = nil
	}
	all.SetManagedFields(managers)
	return all.Object
}

// content returns the fields that count as a new generation of an object.
func content(o *unstructured.Unstructured) map[string]any {
	all := map[string]any{}
	for field, value := range o.Object {
		if field != "metadata" && field != "status" {
			all[field] = value
		}
	}
	return all
}

// remove deletes an object, or marks it if it has finalizers.
func (s *Server) remove(w http.ResponseWriter, r *http.Request, k *kind, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := k.find(namespace, name)
	if i < 0 {
		refuse(w, http.StatusNotFound, "NotFound")
		return
	}
	var only struct {
		Preconditions metav1.Preconditions
		DeleteOptions struct{ Preconditions metav1.Preconditions } // of an eviction
	}
	data, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(data, &only)
	for _, p := range []metav1.Preconditions{only.Preconditions, only.DeleteOptions.Preconditions} {
		if p.UID != nil && *p.UID != k.objects[i].GetUID() || p.ResourceVersion != nil && *p.ResourceVersion != k.objects[i].GetResourceVersion() {
			refuse(w, http.StatusConflict, "Conflict")
			return
		}
	}
	s.removed = append(s.removed, "removed: "+k.gvk.Kind+" "+namespace+"/"+name)
	next := k.objects[i].DeepCopy()
	if len(next.GetFinalizers()) > 0 {
		if next.GetDeletionTimestamp() == nil {
			now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
			next.SetDeletionTimestamp(&now)
			s.change(k, i, next)
		}
		answer(w, r, next)
		return
	}
	s.drop(k, i, next)
	answer(w, r, next)
}

// drop removes an object. The lock must be held.
func (s *Server) drop(k *kind, i int, gone *unstructured.Unstructured) {
	s.revision++
	old := k.objects[i]
	gone.SetResourceVersion(fmt.Sprint(s.revision))
	k.objects = slices.Delete(k.objects, i, i+1)
	k.sendGone(old, gone)
}

// change replaces an object and tells the watches. The lock must be held.
func (s *Server) change(k *kind, i int, next *unstructured.Unstructured) {
	s.revision++
	old := k.objects[i]
	next.SetResourceVersion(fmt.Sprint(s.revision))
	k.objects[i] = next
	k.send(old, next)
}
