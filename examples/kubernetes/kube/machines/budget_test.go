package machines_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestAtRest: heartbeats of 500 nodes cause no request, although one machine is being
// deleted and waits for a hook.
func TestAtRest(t *testing.T) {
	s := budget.New(t)
	s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, budget.Nodes(budget.Size(), nil, nil)...)
	all := budget.Machines(budget.Size())
	first := all[0].(map[string]any)
	first["metadata"].(map[string]any)["deletionTimestamp"] = "2026-03-01T12:00:00Z"
	first["spec"].(map[string]any)["lifecycleHooks"] = map[string]any{"preDrain": []any{map[string]any{"name": "backup", "owner": "jane"}}}
	s.Kind(machines.Kind, true, all...)
	s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"), true)
	s.Kind(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), true)
	s.AtRest(t, 1000, func(mgr ctrl.Manager) error {
		return machines.SetupWithManager(t.Context(), mgr, machines.Options{Store: new(fairlead.MemStore), Cloud: &cloud{there: lifecycle.InstanceExists}})
	})
}
