package drain_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestAtRest: heartbeats of 500 nodes, and changes of pods, budgets and requests that
// decide nothing, cause no request while one node is drained and stays so.
func TestAtRest(t *testing.T) {
	s := budget.New(t)
	nodes := budget.Nodes(budget.Size(), nil, nil)
	nodes[1].(*corev1.Node).Name = "n1"
	s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, nodes...)
	web := pod("web-1", "ReplicaSet", "web")
	web.Spec.NodeName = "n2"
	web.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"), true, web)
	s.Kind(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), true, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 1},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 1},
	})
	s.Kind(drain.Kind, false, request("jane", nil).Object)
	s.AtRest(t, 1000, func(mgr ctrl.Manager) error {
		return drain.SetupWithManager(mgr, drain.Options{Store: new(fairlead.MemStore)})
	})
}
