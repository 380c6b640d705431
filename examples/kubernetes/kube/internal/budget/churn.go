package budget

import (
	"runtime"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Put adds an object of a kind, or replaces it.
func (s *Server) Put(o *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kinds {
		if k.gvk != o.GroupVersionKind() {
			continue
		}
		if i := k.find(o.GetNamespace(), o.GetName()); i >= 0 {
			o.SetUID(k.objects[i].GetUID())
			s.change(k, i, o)
		} else {
			s.add(k, o)
		}
	}
}

// Remove deletes an object, if it is there.
func (s *Server) Remove(o *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kinds {
		if i := k.find(o.GetNamespace(), o.GetName()); k.gvk == o.GroupVersionKind() && i >= 0 {
			s.drop(k, i, k.objects[i].DeepCopy())
		}
	}
}

// Churn runs what setup adds to a manager while events are caused, n times; each causes the events of a
// number. It fails the test if the process then holds more memory than after a quarter of them.
func (s *Server) Churn(t *testing.T, n int, setup func(ctrl.Manager) error, each func(i int)) {
	t.Helper()
	mgr := s.manager(t)
	if err := setup(mgr); err != nil {
		t.Fatal(err)
	}
	go func() { _ = mgr.Start(t.Context()) }()
	for begin := time.Now(); len(s.count()) == 0 && time.Since(begin) < 20*time.Second; {
		each(0) // until it runs
		time.Sleep(50 * time.Millisecond)
	}
	var quarter uint64
	for i := range n {
		each(i + 1)
		time.Sleep(time.Millisecond)
		s.forget()
		if i == n/4 {
			quarter = held(s)
		}
	}
	if end := held(s); end > quarter+quarter/10+2<<20 {
		t.Errorf("%d bytes are held after a quarter of %d rounds, %d at the end", quarter, n, end)
	}
}

// forget drops what is recorded of the past, which would grow.
func (s *Server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made, s.removed, s.requests = nil, nil, s.requests[:min(1, len(s.requests))]
}

// held returns how much memory is in use once everything has settled.
func held(s *Server) uint64 {
	for quiet := 0; quiet < 20; quiet++ {
		time.Sleep(100 * time.Millisecond)
		if len(s.count()) > 0 {
			quiet = 0
		}
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// States counts the states in a store.
func States(t *testing.T, s fairlead.Store) (n int) {
	t.Helper()
	for _, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
