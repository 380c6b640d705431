package drain_test

import (
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestFaults: whatever goes wrong with the server, a node is cordoned, its two pods are evicted
// once, and the request is told.
func TestFaults(t *testing.T) {
	budget.Faults(t, "drain: a node is cordoned, and its two pods are evicted", func(t *testing.T, s *budget.Server) func(ctrl.Manager) error {
		s.Rights(t, "rbac-drain.yaml")
		nodes := budget.Nodes(3, nil, nil)
		s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, nodes...)
		one, two := pod("web-1", "ReplicaSet", "web"), pod("web-2", "ReplicaSet", "web")
		one.Spec.NodeName, two.Spec.NodeName = "n1", "n1"
		other := pod("web-3", "ReplicaSet", "web")
		other.Spec.NodeName = "n2"
		s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"), true, one, two, other)
		s.Kind(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), true)
		s.Kind(drain.Kind, false, request("jane", nil).Object)
		return func(mgr ctrl.Manager) error {
			store, err := budget.Store(mgr, "drain")
			if err != nil {
				return err
			}
			return drain.SetupWithManager(mgr, drain.Options{Store: store})
		}
	})
}
