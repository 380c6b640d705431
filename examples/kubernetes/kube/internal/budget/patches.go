package budget

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// write answers a PUT, or a PATCH that is a JSON patch or a merge patch.
func (s *Server) write(w http.ResponseWriter, r *http.Request, k *kind, namespace, name, sub string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := k.find(namespace, name)
	if i < 0 {
		refuse(w, http.StatusNotFound, "NotFound")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err == nil && r.Method == http.MethodPatch {
		body, err = patched(k.objects[i], body, r.Header.Get("Content-Type"))
	}
	sent := map[string]any{}
	if err == nil {
		err = json.Unmarshal(body, &sent)
	}
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, "Invalid")
		return
	}
	next := &unstructured.Unstructured{Object: unfloat(sent)}
	next.SetGroupVersionKind(k.gvk)
	next.SetNamespace(namespace)
	next = part(k.objects[i], next, sub)
	if next, err = k.managed(k.objects[i], next, r); err != nil {
		refuseError(w, err)
		return
	}
	s.store(w, r, k, i, next)
}

// part returns an object with what a write to it, or to its status, may change.
func part(old, next *unstructured.Unstructured, sub string) *unstructured.Unstructured {
	if sub == "" {
		delete(next.Object, "status")
		if status, has := old.Object["status"]; has {
			next.Object["status"] = status
		}
		return next
	}
	both := old.DeepCopy()
	both.SetResourceVersion(next.GetResourceVersion())
	both.SetUID(next.GetUID())
	delete(both.Object, "status")
	if status, has := next.Object["status"]; has {
		both.Object["status"] = status
	}
	return both
}

// patched returns an object after a patch.
func patched(o *unstructured.Unstructured, patch []byte, content string) ([]byte, error) {
	old, err := json.Marshal(o.Object)
	if err != nil {
		return nil, err
	}
	if strings.Contains(content, "json-patch") {
		ops, err := jsonpatch.DecodePatch(versioned(patch))
		if err != nil {
			return nil, err
		}
		return ops.Apply(old)
	}
	return jsonpatch.MergePatch(old, patch) // a strategic one of ours has no lists
}

// versioned returns a JSON patch; one that sets the resourceVersion of an object that has none adds it.
func versioned(patch []byte) []byte {
	return []byte(strings.ReplaceAll(string(patch), `"op":"replace","path":"/metadata/resourceVersion"`, `"op":"add","path":"/metadata/resourceVersion"`))
}

// apply answers a server-side apply.
func (s *Server) apply(w http.ResponseWriter, r *http.Request, k *kind, namespace, name, sub string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := &unstructured.Unstructured{Object: map[string]any{}}
	if json.NewDecoder(r.Body).Decode(&sent.Object) != nil {
		refuse(w, http.StatusBadRequest, "BadRequest")
		return
	}
	sent.Object = unfloat(sent.Object)
	i := k.find(namespace, name)
	old := k.blank()
	if i >= 0 {
		old = k.objects[i].DeepCopy()
	}
	if i < 0 && (sent.GetUID() != "" || sent.GetResourceVersion() != "" && sent.GetResourceVersion() != absent) {
		refuse(w, http.StatusConflict, "Conflict")
		return
	}
	if v := sent.GetResourceVersion(); i >= 0 && v != "" && v != old.GetResourceVersion() || sent.GetUID() != "" && sent.GetUID() != old.GetUID() {
		refuse(w, http.StatusConflict, "Conflict")
		return
	}
	sent.SetUID("")
	sent.SetResourceVersion("")
	query := r.URL.Query()
	fields, err := k.fields()
	var o runtime.Object
	if err == nil {
		o, err = fields.Apply(old, sent, query.Get("fieldManager"), query.Get("force") == "true")
	}
	if err != nil {
		refuseError(w, err)
		return
	}
	next := o.(*unstructured.Unstructured)
	if i >= 0 {
		s.store(w, r, k, i, part(k.objects[i], next, sub))
		return
	}
	next.SetNamespace(namespace)
	next.SetName(name)
	w.WriteHeader(http.StatusCreated)
	if query.Get("dryRun") == "" {
		next = s.add(k, next)
	}
	answer(w, r, next)
}

// absent is the resourceVersion with which objects are applied that must be new.
const absent = "9223372036854775807"

// managed returns an object that a write other than an apply makes of another one, with its managers.
func (k *kind) managed(old, next *unstructured.Unstructured, r *http.Request) (*unstructured.Unstructured, error) {
	manager := r.URL.Query().Get("fieldManager")
	if manager == "" {
		manager = "unknown"
	}
	if old == nil {
		old = k.blank()
	}
	fields, err := k.fields()
	if err != nil {
		return nil, err
	}
	o, err := fields.Update(old, next, manager)
	if err != nil {
		return nil, err
	}
	return o.(*unstructured.Unstructured), nil
}

// blank returns an empty object of the kind.
func (k *kind) blank() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(k.gvk)
	return o
}

// fields returns what merges applied fields as an API server does, for kinds without a schema.
func (k *kind) fields() (*managedfields.FieldManager, error) {
	return managedfields.NewDefaultFieldManager(managedfields.NewDeducedTypeConverter(), asIs{}, asIs{}, asIs{}, k.gvk, k.gvk.GroupVersion(), "", nil)
}

// asIs converts nothing, and sets no defaults.
type asIs struct{}

func (asIs) Default(runtime.Object) {}

func (asIs) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	return o, nil
}

func (asIs) Convert(in, out, _ any) error {
	out.(*unstructured.Unstructured).Object = in.(*unstructured.Unstructured).Object
	return nil
}

func (asIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (asIs) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// unfloat turns whole numbers that were decoded as floats into integers, as unstructured objects have them.
func unfloat(o map[string]any) map[string]any {
	for key, value := range o {
		o[key] = whole(value)
	}
	return o
}

func whole(v any) any {
	switch v := v.(type) {
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	case map[string]any:
		return unfloat(v)
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	}
	return v
}

// refuseError answers with an error of the API.
func refuseError(w http.ResponseWriter, err error) {
	status, is := err.(apierrors.APIStatus)
	if !is {
		refuse(w, http.StatusUnprocessableEntity, "Invalid")
		return
	}
	data, _ := json.Marshal(status.Status())
	w.WriteHeader(int(status.Status().Code))
	_, _ = w.Write(data)
}
