package fleet_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// A health check is about the machines of its own namespace, whatever their
// labels: it neither replaces nor counts others, and is no cause of their deletion.
func TestHealthCheckNamespace(t *testing.T) {
	controller := true
	machine := func(namespace, name string) fleet.Target {
		m := &lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"role": "worker"}}}
		m.OwnerReferences = []lifecycle.OwnerReference{{Kind: "MachineSet", Name: "s", Controller: &controller}}
		m.Status.Phase = lifecycle.PhaseFailed
		return fleet.Target{Machine: m}
	}
	h := fleet.HealthCheck{ObjectMeta: lifecycle.ObjectMeta{Namespace: "mine", Name: "h"}}
	h.Spec.Selector.MatchLabels = map[string]string{"role": "worker"}
	r, err := h.Evaluate([]fleet.Target{machine("mine", "a"), machine("other", "b")}, noon)
	if err != nil {
		t.Fatal(err)
	}
	if r.Total != 1 || len(r.Targets) != 1 || len(r.Remediate) != 1 || r.Remediate[0] != "mine/a" {
		t.Errorf("%+v", r)
	}
	for namespace, want := range map[string]bool{"mine": true, "other": false} {
		m := machine(namespace, "a").Machine
		at := noon.Add(-time.Minute)
		m.DeletionTimestamp = &at
		found := false
		for _, c := range fleet.Why(&fleet.Scene{Machine: m, Checks: []fleet.HealthCheck{h}}, noon) {
			found = found || c.Trigger == fleet.TriggerHealthCheck
		}
		if found != want {
			t.Errorf("a machine of %s: the check is a cause: %v", namespace, found)
		}
	}
}
