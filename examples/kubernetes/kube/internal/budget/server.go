// Package budget counts the requests that controllers make to an API server on which
// nothing happens that matters to them: kubelets send heartbeats, leases are renewed, and
// objects of others change.
package budget

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
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
	http   *httptest.Server // what answers
	faulty *faulty          // what goes wrong; nil means nothing

	// Play acts as the cluster's other controllers on an object that was written, and reports
	// whether it changed it. It may be nil.
	Play func(o *unstructured.Unstructured) bool

	// Still is for controllers that look again after a longer time, see [Faults].
	Still time.Duration

	mu       sync.Mutex
	kinds    map[string]*kind // by path of the list
	revision int
	requests []string        // beside lists and watches of informers, and events
	made     []string        // the same, with events, as the table of requests counts them
	used     map[string]bool // the permissions that requests needed
	removed  []string        // what was removed, as often as it was
	applied  bool            // there was a server-side apply
}

type kind struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	objects    []*unstructured.Unstructured
	watchers   []chan change
	history    []change // for watches that begin again
}

// New starts a server for a test.
func New(t *testing.T) *Server {
	s := &Server{kinds: map[string]*kind{}, revision: 1000, used: map[string]bool{}}
	s.Kind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, true)
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
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	prefix := "/apis/" + gvk.GroupVersion().String()
	if gvk.Group == "" {
		prefix = "/api/" + gvk.Version
	}
	k := s.kinds[prefix+"/"+plural.Resource]
	if k == nil {
		k = &kind{gvk: gvk, namespaced: namespaced}
		s.kinds[prefix+"/"+plural.Resource] = k
	}
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
		u.Object = unfloat(u.Object)
		u.SetGroupVersionKind(gvk)
		u.SetResourceVersion(fmt.Sprint(s.revision))
		k.objects = append(k.objects, u)
	}
}

// Without removes an object that [Server.Kind] added, before anything runs.
func (s *Server) Without(gvk schema.GroupVersionKind, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kinds {
		if i := k.find(namespace, name); k.gvk == gvk && i >= 0 {
			k.objects = append(k.objects[:i], k.objects[i+1:]...)
		}
	}
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
		if parts[0] != plural || plural == "namespaces" && len(parts) > 2 && parts[2] != "status" { // it is the namespace of others
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
	s.used[right(r)] = true
	informer := query.Get("watch") != "" || name == "" && query.Get("resourceVersion") != "" && r.Method == http.MethodGet
	if !informer {
		s.made = append(s.made, counted(r, k, namespace, sub))
	}
	if !informer && !strings.Contains(r.URL.Path, "/events") {
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		s.applied = s.applied || applies(r)
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
	content := r.Header.Get("Content-Type")
	switch {
	case k == nil:
		refuse(w, http.StatusNotFound, "NotFound")
	case query.Get("sendInitialEvents") != "": // an older server: informers list first
		refuse(w, http.StatusUnprocessableEntity, "Invalid")
	case query.Get("watch") != "":
		s.watch(w, r, k)
	case r.Method == http.MethodGet && name == "":
		s.list(w, k, selected(r, namespace), asMetadata(r))
	case r.Method == http.MethodGet:
		s.get(w, k, namespace, name, asMetadata(r))
	case r.Method == http.MethodPatch && strings.Contains(content, "apply-patch"):
		s.apply(w, r, k, namespace, name, sub)
	case r.Method == http.MethodPatch || r.Method == http.MethodPut:
		s.write(w, r, k, namespace, name, sub)
	case r.Method == http.MethodPost && name == "":
		s.create(w, r, k, namespace)
	case r.Method == http.MethodDelete && name != "" || r.Method == http.MethodPost && sub == "eviction":
		s.remove(w, r, k, namespace, name)
	default:
		refuse(w, http.StatusForbidden, "Forbidden")
	}
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, code)
}

// count returns the requests since the last call, other than those of informers.
func (s *Server) count() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.requests
	s.requests = nil
	return all
}
