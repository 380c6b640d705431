// Package budget counts the requests that controllers make to an API server on which
// nothing happens that matters to them: kubelets send heartbeats, leases are renewed, and
// objects of others change.
package budget

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/lifecycle"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Server is an API server with objects that only its own heartbeats change, and those
// whose status a controller writes.
type Server struct {
	http *httptest.Server // what answers

	mu       sync.Mutex
	kinds    map[string]*kind // by path of the list
	revision int
	requests []string // beside lists and watches of informers
}

type kind struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	objects    []*unstructured.Unstructured
	watchers   []chan []byte
}

// New starts a server for a test.
func New(t *testing.T) *Server {
	s := &Server{kinds: map[string]*kind{}, revision: 1000}
	s.http = httptest.NewServer(s)
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Kind adds a kind, with the objects that there are.
func (s *Server) Kind(gvk schema.GroupVersionKind, namespaced bool, objects ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &kind{gvk: gvk, namespaced: namespaced}
	for _, o := range objects {
		text, err := json.Marshal(o)
		u := &unstructured.Unstructured{}
		if err == nil {
			err = json.Unmarshal(text, &u.Object)
		}
		if err != nil {
			panic(err)
		}
		s.revision++
		u.SetGroupVersionKind(gvk)
		u.SetResourceVersion(fmt.Sprint(s.revision))
		k.objects = append(k.objects, u)
	}
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	prefix := "/apis/" + gvk.GroupVersion().String()
	if gvk.Group == "" {
		prefix = "/api/" + gvk.Version
	}
	s.kinds[prefix+"/"+plural.Resource] = k
}

// manager returns a manager for the server.
func (s *Server) manager(t *testing.T) ctrl.Manager {
	mapper := meta.NewDefaultRESTMapper(nil)
	s.mu.Lock()
	for _, k := range s.kinds {
		scope := meta.RESTScope(meta.RESTScopeRoot)
		if k.namespaced {
			scope = meta.RESTScopeNamespace
		}
		mapper.Add(k.gvk, scope)
	}
	s.mu.Unlock()
	to := &rest.Config{Host: s.http.URL, QPS: -1}
	to.ContentType = "application/json"
	yes := true
	mgr, err := ctrl.NewManager(to, ctrl.Options{
		Scheme: clientgoscheme.Scheme, Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &yes},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// find returns the kind that a path is about, and the rest of the path.
func (s *Server) find(path string) (k *kind, namespace, name, sub string) {
	for at, k := range s.kinds {
		base, plural := at[:strings.LastIndex(at, "/")], at[strings.LastIndex(at, "/")+1:]
		rest, ok := strings.CutPrefix(path, base+"/")
		if !ok {
			continue
		}
		parts := strings.Split(rest, "/")
		if k.namespaced && parts[0] == "namespaces" && len(parts) > 2 {
			namespace, parts = parts[1], parts[2:]
		}
		if parts[0] != plural {
			namespace = ""
			continue
		}
		parts = append(parts, "", "")
		return k, namespace, parts[1], parts[2]
	}
	return nil, "", "", ""
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	w.Header().Set("Content-Type", "application/json")
	s.mu.Lock()
	k, namespace, name, sub := s.find(r.URL.Path)
	informer := query.Get("watch") != "" || name == "" && query.Get("resourceVersion") != "" && r.Method == http.MethodGet
	if !informer && !strings.Contains(r.URL.Path, "/events") {
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	}
	s.mu.Unlock()
	switch {
	case k == nil:
		refuse(w, http.StatusNotFound, "NotFound")
	case query.Get("sendInitialEvents") != "": // an older server: informers list first
		refuse(w, http.StatusUnprocessableEntity, "Invalid")
	case query.Get("watch") != "":
		s.watch(w, r, k)
	case r.Method == http.MethodGet && name == "":
		s.list(w, k, namespace)
	case r.Method == http.MethodGet:
		s.one(w, k, namespace, name, nil)
	case (r.Method == http.MethodPatch || r.Method == http.MethodPut) && sub == "status":
		s.one(w, k, namespace, name, func(o map[string]any) { o["status"] = statusOf(r) })
	case r.Method == http.MethodPatch && strings.Contains(r.Header.Get("Content-Type"), "merge-patch"):
		s.one(w, k, namespace, name, func(o map[string]any) {
			var patch map[string]any
			if json.NewDecoder(r.Body).Decode(&patch) == nil {
				merge(o, patch)
			}
		})
	case r.Method == http.MethodDelete && name != "" || r.Method == http.MethodPost && sub == "eviction":
		s.remove(w, k, namespace, name)
	default:
		refuse(w, http.StatusForbidden, "Forbidden")
	}
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, code)
}

func (s *Server) list(w http.ResponseWriter, k *kind, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []any{}
	for _, o := range k.objects {
		if namespace == "" || o.GetNamespace() == namespace {
			items = append(items, o.Object)
		}
	}
	data, _ := json.Marshal(map[string]any{
		"apiVersion": k.gvk.GroupVersion().String(), "kind": k.gvk.Kind + "List", "metadata": map[string]any{"resourceVersion": fmt.Sprint(s.revision)}, "items": items,
	})
	_, _ = w.Write(data)
}

// merge applies a JSON merge patch.
func merge(o, patch map[string]any) {
	for key, value := range patch {
		inner, is := value.(map[string]any)
		old, was := o[key].(map[string]any)
		switch {
		case value == nil:
			delete(o, key)
		case is && was:
			merge(old, inner)
		default:
			o[key] = value
		}
	}
}

// one answers with an object, after it was written if there is a write.
func (s *Server) one(w http.ResponseWriter, k *kind, namespace, name string, write func(map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := k.find(namespace, name)
	if i < 0 {
		refuse(w, http.StatusNotFound, "NotFound")
		return
	}
	if write != nil {
		next := k.objects[i].DeepCopy()
		write(next.Object)
		s.change(k, i, next)
	}
	data, _ := json.Marshal(k.objects[i].Object)
	_, _ = w.Write(data)
}

// statusOf returns the status in a patch or an object.
func statusOf(r *http.Request) any {
	var body any
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		return nil
	}
	switch b := body.(type) {
	case map[string]any:
		return b["status"]
	case []any:
		for _, op := range b {
			if m, is := op.(map[string]any); is && m["path"] == "/status" {
				return m["value"]
			}
		}
	}
	return nil
}

// remove deletes an object.
func (s *Server) remove(w http.ResponseWriter, k *kind, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := k.find(namespace, name)
	if i < 0 {
		refuse(w, http.StatusNotFound, "NotFound")
		return
	}
	s.revision++
	gone := k.objects[i].DeepCopy()
	gone.SetResourceVersion(fmt.Sprint(s.revision))
	k.objects = slices.Delete(k.objects, i, i+1)
	k.send("DELETED", gone)
	data, _ := json.Marshal(gone.Object)
	_, _ = w.Write(data)
}

// find returns the index of an object, or -1.
func (k *kind) find(namespace, name string) int {
	return slices.IndexFunc(k.objects, func(o *unstructured.Unstructured) bool { return o.GetName() == name && o.GetNamespace() == namespace })
}

// change replaces an object and tells the watches. The lock must be held.
func (s *Server) change(k *kind, i int, next *unstructured.Unstructured) {
	s.revision++
	next.SetResourceVersion(fmt.Sprint(s.revision))
	k.objects[i] = next
	k.send("MODIFIED", next)
}

// send reports an event to the watches.
func (k *kind) send(event string, o *unstructured.Unstructured) {
	data, _ := json.Marshal(map[string]any{"type": event, "object": o.Object})
	for _, c := range k.watchers {
		select {
		case c <- append(data, '\n'):
		default:
		}
	}
}

func (s *Server) watch(w http.ResponseWriter, r *http.Request, k *kind) {
	c := make(chan []byte, 10_000)
	s.mu.Lock()
	k.watchers = append(k.watchers, c)
	s.mu.Unlock()
	f := w.(http.Flusher)
	f.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case data := <-c:
			if _, err := w.Write(data); err != nil {
				return
			}
			f.Flush()
		}
	}
}

// beat lets kubelets send n heartbeats: one after the other, each node says again how it
// is, and reports its images. With each, one object of every other kind changes in what
// decides nothing: an annotation of a tool, the restarts of a pod's container.
func (s *Server) beat(n int) {
	for i := range n {
		s.mu.Lock()
		s.touch(i)
		k := s.kinds["/api/v1/nodes"]
		at := i % len(k.objects)
		next := k.objects[at].DeepCopy()
		conditions, _, _ := unstructured.NestedSlice(next.Object, "status", "conditions")
		for _, c := range conditions {
			c.(map[string]any)["lastHeartbeatTime"] = time.Date(2026, 3, 1, 12, 0, i, 0, time.UTC).Format(time.RFC3339)
		}
		_ = unstructured.SetNestedSlice(next.Object, conditions, "status", "conditions")
		_ = unstructured.SetNestedSlice(next.Object, []any{map[string]any{"names": []any{fmt.Sprint("image-", i)}, "sizeBytes": int64(i)}}, "status", "images")
		s.change(k, at, next)
		s.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

// touch changes an object of each kind of which it is known what decides nothing: not of
// machines, health checks and pools, whose annotations are part of what controllers read.
// The lock must be held.
func (s *Server) touch(i int) {
	for _, k := range s.kinds {
		if len(k.objects) == 0 {
			continue
		}
		at := i % len(k.objects)
		next := k.objects[at].DeepCopy()
		switch k.gvk.Kind {
		case "Pod":
			_ = unstructured.SetNestedSlice(next.Object, []any{map[string]any{"name": "main", "restartCount": int64(i)}}, "status", "containerStatuses")
		case "Lease":
			_ = unstructured.SetNestedField(next.Object, time.Date(2026, 3, 1, 12, 0, i, 0, time.UTC).Format("2006-01-02T15:04:05.000000Z07:00"), "spec", "renewTime")
		case "PodDisruptionBudget", "DrainRequest", "ClusterPlan", "ClusterVersion", "ClusterOperator":
			_ = unstructured.SetNestedField(next.Object, fmt.Sprint(i), "metadata", "annotations", "example.com/seen")
		default:
			continue
		}
		s.change(k, at, next)
	}
}

// count returns the requests since the last call, other than those of informers.
func (s *Server) count() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.requests
	s.requests = nil
	return all
}

// Nodes returns n nodes that are ready.
func Nodes(n int, labels, annotations map[string]string) []any {
	all := make([]any, n)
	for i := range all {
		name := fmt.Sprint("n", i)
		all[i] = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: "u", Labels: labels, Annotations: annotations},
			Spec:       corev1.NodeSpec{ProviderID: "cloud:///" + name},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}
	}
	return all
}

// Machines returns the machines of the nodes that [Nodes] returns: workers, with the finalizer.
func Machines(n int) []any {
	all := make([]any, n)
	for i := range all {
		name := fmt.Sprint("n", i)
		all[i] = map[string]any{
			"metadata": map[string]any{"namespace": "fleet", "name": name, "uid": "m", "labels": map[string]any{"role": "worker"}, "finalizers": []any{lifecycle.Finalizer}},
			"spec":     map[string]any{"providerID": "cloud:///" + name}, "status": map[string]any{"nodeRef": map[string]any{"name": name}},
		}
	}
	return all
}

// AtRest runs what setup adds to a manager. It fails the test if that makes requests while n
// heartbeats arrive, or if it makes none before, so that it does not run.
func (s *Server) AtRest(t *testing.T, n int, setup func(ctrl.Manager) error) {
	t.Helper()
	mgr := s.manager(t)
	if err := setup(mgr); err != nil {
		t.Fatal(err)
	}
	go func() { _ = mgr.Start(t.Context()) }()
	quiet, began := 0, false
	for range 150 { // until it has settled
		time.Sleep(100 * time.Millisecond)
		if len(s.count()) > 0 {
			quiet, began = 0, true
		} else if quiet++; began && quiet > 25 {
			break
		}
	}
	if !began {
		t.Fatal("the controller makes no request at all")
	}
	s.beat(n)
	time.Sleep(3 * time.Second)
	if made := s.count(); len(made) > 0 {
		t.Errorf("%d heartbeats cause %d requests: %v", n, len(made), made[:min(5, len(made))])
	}
}
