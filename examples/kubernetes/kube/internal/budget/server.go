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
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Server is an API server with objects that only its own heartbeats change, and those
// whose status a controller writes.
type Server struct {
	http   *httptest.Server // what answers
	faulty *faulty          // what goes wrong; nil means nothing

	mu       sync.Mutex
	kinds    map[string]*kind // by path of the list
	revision int
	requests []string // beside lists and watches of informers
	removed  []string // what was removed, as often as it was
}

type kind struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	objects    []*unstructured.Unstructured
	watchers   []chan []byte
	history    []past // for watches that begin again
}

// past is an event that was sent.
type past struct {
	revision int
	data     []byte
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
	if !informer && s.faulty.strikes(r) {
		s.faulty.answer(w, func(w http.ResponseWriter) { s.serve(w, r, k, namespace, name, sub) })
		return
	}
	s.serve(w, r, k, namespace, name, sub)
}

// serve answers a request about a kind.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, k *kind, namespace, name, sub string) {
	query := r.URL.Query()
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
		part := strings.Contains(r.Header.Get("Content-Type"), "merge-patch")
		s.one(w, k, namespace, name, func(o map[string]any) {
			if status := statusOf(r); part {
				merge(o, map[string]any{"status": status})
			} else {
				o["status"] = status
			}
		})
	case r.Method == http.MethodPatch && strings.Contains(r.Header.Get("Content-Type"), "merge-patch"):
		s.one(w, k, namespace, name, func(o map[string]any) {
			var patch map[string]any
			if json.NewDecoder(r.Body).Decode(&patch) == nil {
				merge(o, patch)
			}
		})
	case r.Method == http.MethodPost && name == "":
		s.create(w, r, k, namespace)
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
		case is:
			fresh := map[string]any{}
			merge(fresh, inner)
			o[key] = fresh
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
	if k.find(namespace, next.GetName()) >= 0 {
		refuse(w, http.StatusConflict, "AlreadyExists")
		return
	}
	s.revision++
	next.SetUID(types.UID(fmt.Sprint("u", s.revision)))
	next.SetResourceVersion(fmt.Sprint(s.revision))
	k.objects = append(k.objects, next)
	k.send("ADDED", next)
	w.WriteHeader(http.StatusCreated)
	data, _ := json.Marshal(next.Object)
	_, _ = w.Write(data)
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
	s.removed = append(s.removed, "removed: "+k.gvk.Kind+" "+namespace+"/"+name)
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
	revision, _ := strconv.Atoi(o.GetResourceVersion())
	k.history = append(k.history[max(0, len(k.history)-1000):], past{revision, append(slices.Clone(data), '\n')})
	for _, c := range k.watchers {
		select {
		case c <- append(data, '\n'):
		default:
		}
	}
}

func (s *Server) watch(w http.ResponseWriter, r *http.Request, k *kind) {
	c := make(chan []byte, 10_000)
	since, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	s.mu.Lock()
	for _, p := range k.history {
		if p.revision > since {
			c <- p.data
		}
	}
	k.watchers = append(k.watchers, c)
	s.mu.Unlock()
	f := w.(http.Flusher)
	f.Flush()
	var over <-chan time.Time
	after, expired := s.faulty.ends(k.gvk.Kind)
	if after > 0 {
		over = time.After(after)
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-over:
			if expired {
				fmt.Fprintln(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}}`)
			}
			return
		case data := <-c:
			time.Sleep(s.faulty.lag())
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

// Until runs what setup adds to a manager until done is true; it fails the test if that takes
// longer than half a minute.
func (s *Server) Until(t *testing.T, what string, setup func(ctrl.Manager) error, done func() bool) {
	t.Helper()
	mgr := s.manager(t)
	if err := setup(mgr); err != nil {
		t.Fatal(err)
	}
	go func() { _ = mgr.Start(t.Context()) }()
	for range 300 {
		if done() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%s: not after half a minute", what)
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
