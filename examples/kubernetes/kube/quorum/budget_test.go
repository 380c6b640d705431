package quorum_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/quorum"
	engine "github.com/fairlead/fairlead/lifecycle/quorum"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// three fills a server with a control plane of three members.
func three(t *testing.T, s *budget.Server, store fairlead.Store) func(ctrl.Manager) error {
	s.Rights(t, "rbac-quorum.yaml")
	var nodes, pods, all []any
	for i := range 3 {
		nodes, pods, all = append(nodes, host(i+1)), append(pods, etcdPod(i+1, true)), append(all, controlPlane(i+1))
	}
	s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, nodes...)
	s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"), true, pods...)
	s.Kind(machines.Kind, true, all...)
	b := *newPlane(t, 3).backend
	b.Client = nil
	return func(mgr ctrl.Manager) (err error) {
		if store == nil {
			if store, err = budget.Store(mgr, "quorum"); err != nil {
				return err
			}
		}
		return quorum.SetupWithManager(mgr, quorum.Options{Backend: b, Store: store, Policy: &engine.Policy{Resync: time.Hour}})
	}
}

// TestAtRest: heartbeats of the nodes of a control plane cause no request.
func TestAtRest(t *testing.T) {
	s := budget.New(t)
	s.AtRest(t, 300, three(t, s, nil))
}

// TestFaults: whatever goes wrong with the server, each machine of the control plane gets the hook by
// which its member is guarded.
func TestFaults(t *testing.T) {
	budget.Faults(t, "quorum: three machines get the hook", func(t *testing.T, s *budget.Server) func(ctrl.Manager) error { return three(t, s, nil) })
}

// TestSwept: the state under another name, which the control plane had before, is deleted at the start.
func TestSwept(t *testing.T) {
	store := new(fairlead.MemStore)
	before, err := engine.NewRunner(newPlane(t, 3).backend, nil, &fairlead.RunnerOptions{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := before.Reconcile(t.Context(), "masters"); err != nil {
		t.Fatal(err)
	}
	has := func() (there bool) {
		for r, err := range store.List(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			there = there || strings.HasSuffix(r.Key, "masters")
		}
		return there
	}
	if !has() {
		t.Fatal("there is no state")
	}
	s := budget.New(t)
	s.Until(t, "the state of another name is deleted", three(t, s, store), func() bool { return !has() })
}
