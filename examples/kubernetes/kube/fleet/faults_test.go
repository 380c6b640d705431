package fleet_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/fleet"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestFaults: whatever goes wrong with the server, the machine of a node that is not ready is deleted,
// once, and no other.
func TestFaults(t *testing.T) {
	budget.Faults(t, "fleet: the machine of a broken node is deleted", func(t *testing.T, s *budget.Server) func(ctrl.Manager) error {
		s.Rights(t, "rbac-fleet.yaml")
		nodes := budget.Nodes(4, nil, nil)
		sick := nodes[1].(*corev1.Node)
		sick.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Hour))}}
		s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, nodes...)
		all := budget.Machines(4)
		yes := true
		for _, m := range all {
			m.(map[string]any)["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", "name": "workers", "uid": "s", "controller": yes}}
		}
		s.Kind(machines.Kind, true, all...)
		s.Kind(fleet.HealthCheckKind, true, map[string]any{
			"metadata": map[string]any{"namespace": "fleet", "name": "workers", "uid": "h"},
			"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"role": "worker"}}, "maxUnhealthy": "40%",
				"unhealthyConditions": []any{map[string]any{"type": "Ready", "status": "False", "timeout": "300s"}}},
		})
		return func(mgr ctrl.Manager) error { return fleet.SetupWithManager(mgr, fleet.Options{}) }
	})
}
