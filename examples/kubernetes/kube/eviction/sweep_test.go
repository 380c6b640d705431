package eviction_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/eviction"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	engine "github.com/fairlead/fairlead/taints/eviction"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestSwept: the state of a node that was removed while no process ran is deleted at the start.
func TestSwept(t *testing.T) {
	store := new(fairlead.MemStore)
	before := new(engine.MemBackend)
	node := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "gone", UID: "u"}}
	node.Spec.Taints = []fairlead.Taint{{Key: "out", Effect: fairlead.NoExecute}}
	before.PutNode(node)
	pod := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "p", UID: "p"}}
	pod.Spec.NodeName = "gone"
	before.PutPod(pod)
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
	s.Until(t, "the state of a node that is gone is deleted", func(mgr ctrl.Manager) error {
		return eviction.SetupWithManager(t.Context(), mgr, eviction.Options{Store: store})
	}, func() bool { return budget.States(t, store) == 0 })
}
