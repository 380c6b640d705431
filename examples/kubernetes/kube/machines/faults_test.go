package machines_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestFaults: whatever goes wrong with the server, the node of a machine that is being deleted is
// drained, and the machine waits for a hook; the others stay as they are.
func TestFaults(t *testing.T) {
	budget.Faults(t, func(t *testing.T, s *budget.Server) func(ctrl.Manager) error {
		yes := true
		all := budget.Machines(3)
		first := all[0].(map[string]any)
		first["metadata"].(map[string]any)["deletionTimestamp"] = "2026-03-01T12:00:00Z"
		first["spec"].(map[string]any)["lifecycleHooks"] = map[string]any{"preTerminate": []any{map[string]any{"name": "backup", "owner": "jane"}}}
		var pods []any
		for _, name := range []string{"a", "b"} {
			pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "p", OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: &yes}}}, Spec: corev1.PodSpec{NodeName: "n0"}})
		}
		s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, budget.Nodes(3, nil, nil)...)
		s.Kind(machines.Kind, true, all...)
		s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"), true, pods...)
		s.Kind(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), true)
		return func(mgr ctrl.Manager) error {
			return machines.SetupWithManager(t.Context(), mgr, machines.Options{Store: new(fairlead.MemStore), Cloud: &cloud{there: lifecycle.InstanceExists}})
		}
	})
}
