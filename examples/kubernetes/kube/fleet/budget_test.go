package fleet_test

import (
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/fleet"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestAtRest: heartbeats of 500 nodes cause no request.
func TestAtRest(t *testing.T) {
	s := budget.New(t)
	s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, budget.Nodes(budget.Size(), nil, nil)...)
	s.Kind(machines.Kind, true, budget.Machines(budget.Size())...)
	s.Kind(fleet.HealthCheckKind, true, map[string]any{
		"metadata": map[string]any{"namespace": "fleet", "name": "workers", "uid": "h"},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"role": "worker"}}, "maxUnhealthy": "40%",
			"unhealthyConditions": []any{map[string]any{"type": "Ready", "status": "False", "timeout": "300s"}}},
	})
	s.AtRest(t, 1000, func(mgr ctrl.Manager) error {
		return fleet.SetupWithManager(mgr, fleet.Options{})
	})
}

// TestControlPlaneAtRest is the same for a ControlPlaneMachineSet, on whose masters nothing
// changes.
func TestControlPlaneAtRest(t *testing.T) {
	s := budget.New(t)
	s.Rights(t, "rbac-controlplane.yaml")
	nodes, all := budget.Nodes(budget.Size(), nil, nil), []any{}
	for _, o := range masters("large") {
		if _, is := o.(*corev1.Node); is {
			nodes = append(nodes, o)
		} else {
			all = append(all, o)
		}
	}
	s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, nodes...)
	s.Kind(machines.Kind, true, all...)
	s.Kind(fleet.ControlPlaneKind, true, planeSet("large"))
	s.AtRest(t, 1000, func(mgr ctrl.Manager) error {
		return fleet.SetupControlPlaneWithManager(mgr, fleet.Options{})
	})
}
