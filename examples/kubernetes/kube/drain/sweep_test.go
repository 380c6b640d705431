package drain_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	engine "github.com/fairlead/fairlead/lifecycle/drain"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestSwept: the state of a node that was removed, with its request, while no process ran, is
// deleted at the start.
func TestSwept(t *testing.T) {
	store := new(fairlead.MemStore)
	before := new(engine.MemBackend)
	before.PutNode(engine.Node{ObjectMeta: engine.ObjectMeta{Name: "gone", UID: "u"}})
	before.PutRequest("gone", engine.Request{Name: "r", UID: "r", Requester: "jane", Asked: time.Now()})
	runner, err := engine.NewRunner(before, nil, &fairlead.RunnerOptions{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Reconcile(t.Context(), "gone"); err != nil || budget.States(t, store) == 0 {
		t.Fatalf("%d states: %v", budget.States(t, store), err)
	}
	s := budget.New(t)
	s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, budget.Nodes(3, nil, nil)...)
	s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"), true)
	s.Kind(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), true)
	s.Kind(drain.Kind, false)
	s.Until(t, "the state of a node that is gone is deleted", func(mgr ctrl.Manager) error {
		return drain.SetupWithManager(mgr, drain.Options{Store: store})
	}, func() bool { return budget.States(t, store) == 0 })
}
