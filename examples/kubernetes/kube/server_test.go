package kube_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// server stores ConfigMaps as the API server does: one resourceVersion that only
// grows, lists in pages, watches that continue from a version as far as its
// history reaches. The fake client gives each new object the same version.
type server struct {
	mu      sync.Mutex
	changed *sync.Cond
	at      int
	maps    map[string]*corev1.ConfigMap
	history []change
	oldest  int  // versions up to this one are forgotten
	ended   int  // how often watches were ended
	expire  bool // every next page of a list is refused
	vanish  bool // the first object is removed when a page is refused
	watches int  // how often a watch was requested
	forgets bool // no watch finds the history that it needs
}

type change struct {
	at    int
	event string
	after []byte
}

func newServer(t *testing.T) (*server, client.WithWatch) {
	s := &server{maps: map[string]*corev1.ConfigMap{}}
	s.changed = sync.NewCond(&s.mu)
	listen := httptest.NewServer(s)
	t.Cleanup(func() {
		listen.CloseClientConnections()
		listen.Close()
	})
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	config := &rest.Config{Host: listen.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme.Scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/fleet/configmaps"), "/")
	switch {
	case r.URL.Query().Get("watch") != "":
		s.watch(w, r)
	case r.Method == http.MethodGet && name == "":
		s.list(w, r)
	case r.Method == http.MethodGet:
		if m := s.maps[name]; m != nil {
			answer(w, 200, m)
			return
		}
		refuse(w, 404, metav1.StatusReasonNotFound)
	case r.Method == http.MethodDelete:
		s.remove(w, r, name)
	default:
		s.write(w, r, name)
	}
}

func (s *server) write(w http.ResponseWriter, r *http.Request, name string) {
	var m corev1.ConfigMap
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		refuse(w, 400, metav1.StatusReasonBadRequest)
		return
	}
	old, event := s.maps[m.Name], "MODIFIED"
	switch {
	case r.Method == http.MethodPost && old != nil:
		refuse(w, 409, metav1.StatusReasonAlreadyExists)
		return
	case r.Method == http.MethodPost:
		event = "ADDED"
	case old == nil:
		refuse(w, 404, metav1.StatusReasonNotFound)
		return
	case old.ResourceVersion != m.ResourceVersion:
		refuse(w, 409, metav1.StatusReasonConflict)
		return
	}
	if old != nil {
		m.ResourceVersion = old.ResourceVersion
		if same, _ := json.Marshal(&m); string(same) == string(must(json.Marshal(old))) {
			answer(w, 200, old)
			return
		}
	}
	s.at++
	m.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	m.ResourceVersion = strconv.Itoa(s.at)
	s.maps[m.Name] = &m
	s.note(event, &m)
	answer(w, 200, &m)
}

func (s *server) remove(w http.ResponseWriter, r *http.Request, name string) {
	var opts metav1.DeleteOptions
	_ = json.NewDecoder(r.Body).Decode(&opts)
	m := s.maps[name]
	switch {
	case m == nil:
		refuse(w, 404, metav1.StatusReasonNotFound)
		return
	case opts.Preconditions != nil && *opts.Preconditions.ResourceVersion != m.ResourceVersion:
		refuse(w, 409, metav1.StatusReasonConflict)
		return
	}
	delete(s.maps, name)
	s.at++
	gone := m.DeepCopy()
	gone.ResourceVersion = strconv.Itoa(s.at)
	s.note("DELETED", gone)
	answer(w, 200, &metav1.Status{Status: "Success"})
}

func (s *server) note(event string, m *corev1.ConfigMap) {
	data := must(json.Marshal(map[string]any{"type": event, "object": m}))
	s.history = append(s.history, change{at: s.at, event: event, after: data})
	s.changed.Broadcast()
}

// list answers with at most three ConfigMaps if pages are allowed.
func (s *server) list(w http.ResponseWriter, r *http.Request) {
	from := r.URL.Query().Get("continue")
	if from != "" && s.expire {
		if s.vanish {
			delete(s.maps, slices.Sorted(maps.Keys(s.maps))[0])
		}
		refuse(w, 410, metav1.StatusReasonExpired)
		return
	}
	selector := must(labels.Parse(r.URL.Query().Get("labelSelector")))
	list := corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.at)}}
	for _, name := range slices.Sorted(maps.Keys(s.maps)) {
		if name <= from || !selector.Matches(labels.Set(s.maps[name].Labels)) {
			continue
		}
		if len(list.Items) == 3 && r.URL.Query().Get("limit") != "" {
			list.Continue = list.Items[2].Name
			break
		}
		list.Items = append(list.Items, *s.maps[name])
	}
	answer(w, 200, &list)
}

func (s *server) watch(w http.ResponseWriter, r *http.Request) {
	from := must(strconv.Atoi(r.URL.Query().Get("resourceVersion")))
	w.Header().Set("Content-Type", "application/json")
	s.watches++
	if from < s.oldest || s.forgets {
		refuse(w, 410, metav1.StatusReasonExpired)
		return
	}
	w.WriteHeader(200)
	w.(http.Flusher).Flush()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-r.Context().Done():
			s.mu.Lock()
			s.changed.Broadcast()
			s.mu.Unlock()
		case <-stop:
		}
	}()
	for ended := s.ended; ended == s.ended && r.Context().Err() == nil; s.changed.Wait() {
		for _, c := range s.history {
			if c.at > from {
				fmt.Fprintf(w, "%s\n", c.after)
				from = c.at
			}
		}
		w.(http.Flusher).Flush()
	}
}

// forget ends all watches, and drops the history if asked to.
func (s *server) forget(history bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
	if history {
		s.history, s.oldest = nil, s.at
	}
	s.changed.Broadcast()
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	answer(w, code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   "Failure", Code: int32(code), Reason: reason, Message: string(reason),
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
