package budget

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/long"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
)

// beat lets kubelets send n heartbeats: one after the other, each node says again how it
// is, and reports its images. With each, one object of every other kind changes in what
// decides nothing: an annotation of a tool, the restarts of a pod's container.
func (s *Server) beat(n int) {
	for i := range n {
		s.mu.Lock()
		s.touch(i)
		s.heartbeat(i)
		s.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

// heartbeat lets a node say again how it is, and report its images. The lock must be held.
func (s *Server) heartbeat(i int) {
	k := s.kinds["/api/v1/nodes"]
	if k == nil || len(k.objects) == 0 {
		return
	}
	at := i % len(k.objects)
	next := k.objects[at].DeepCopy()
	conditions, _, _ := unstructured.NestedSlice(next.Object, "status", "conditions")
	for _, c := range conditions {
		c.(map[string]any)["lastHeartbeatTime"] = time.Date(2026, 3, 1, 12, 0, i, 0, time.UTC).Format(time.RFC3339)
	}
	_ = unstructured.SetNestedSlice(next.Object, conditions, "status", "conditions")
	_ = unstructured.SetNestedSlice(next.Object, []any{map[string]any{"names": []any{fmt.Sprint("image-", i)}, "sizeBytes": int64(i)}}, "status", "images")
	s.change(k, at, next)
}

// Elsewhere is a namespace whose objects are those of others: they change, whatever their kind.
const Elsewhere = "elsewhere"

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
			if at = slices.IndexFunc(k.objects, func(o *unstructured.Unstructured) bool { return o.GetNamespace() == Elsewhere }); at < 0 {
				continue
			}
			next = k.objects[at].DeepCopy()
			_ = unstructured.SetNestedField(next.Object, fmt.Sprint(i), "metadata", "annotations", "example.com/seen")
		}
		s.change(k, at, next)
	}
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
	for range 600 { // until it has settled
		time.Sleep(100 * time.Millisecond)
		if len(s.count()) > 0 {
			quiet, began = 0, true
		} else if quiet++; began && quiet > long.N(25, 80) {
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
