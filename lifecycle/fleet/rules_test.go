package fleet_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
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

// A range is two whole numbers in brackets, the smaller first. With what lacks a part
// of that nothing is replaced, and a block says so.
func TestUnhealthyRange(t *testing.T) {
	h := fleet.HealthCheck{ObjectMeta: lifecycle.ObjectMeta{Namespace: "mine", Name: "h"}}
	h.Spec.Selector.MatchLabels = map[string]string{"role": "worker"}
	controller := true
	m := &lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: "mine", Name: "a", Labels: h.Spec.Selector.MatchLabels}}
	m.OwnerReferences = []lifecycle.OwnerReference{{Kind: "MachineSet", Name: "s", Controller: &controller}}
	m.Status.Phase = lifecycle.PhaseFailed
	reason := func(text string) string {
		h.Spec.UnhealthyRange = text
		r, err := h.Evaluate([]fleet.Target{{Machine: m}}, noon)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Blocked)+len(r.Remediate) != 1 {
			t.Fatalf("%s: %+v", text, r)
		}
		if len(r.Blocked) > 0 {
			return r.Blocked[0].Reason
		}
		return ""
	}
	for text, want := range map[string]string{"[0-0]": "TooManyUnhealthy", "[0-1]": "", "[1-3]": "", "[2-3]": "TooFewUnhealthy"} {
		if got := reason(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"1-3", "[1-3", "1-3]", "[13]", "[-3]", "[1-]", "[3-1]", "[1-3-5]", "[a-3]", "[1-b]", "[+1-3]", "[1 - 3]", "[]"} {
		if got := reason(text); got != "InvalidUnhealthyRange" {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// A health check goes through JSON and comes back equal, with durations in words; one
// that is no duration is an error that shows it.
func TestHealthCheckJSON(t *testing.T) {
	timeout := fleet.Duration(90 * time.Second)
	h := fleet.HealthCheck{ObjectMeta: lifecycle.ObjectMeta{Namespace: "mine", Name: "h"}}
	h.Spec.NodeStartupTimeout = &timeout
	h.Spec.UnhealthyConditions = []fleet.UnhealthyCondition{{Type: "Ready", Status: "Unknown", Timeout: timeout}}
	data, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var read fleet.HealthCheck
	if err := json.Unmarshal(data, &read); err != nil || !reflect.DeepEqual(read, h) || !strings.Contains(string(data), `"1m30s"`) {
		t.Errorf("%s came back as %+v, %v", data, read, err)
	}
	for _, bad := range []string{`5`, `"5"`, `"soon"`, `{}`} {
		if err := json.Unmarshal([]byte(`{"spec":{"nodeStartupTimeout":`+bad+`}}`), &read); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// The taint of the autoscaler says since when it wants the node gone, in seconds; what
// is no such number says nothing of when.
func TestAutoscalerSince(t *testing.T) {
	at := noon.Add(-time.Minute)
	for value, want := range map[string]time.Time{"1700000000": time.Unix(1700000000, 0).UTC(), "0": {}, "-5": {}, "": {}, "soon": {}, "99999999999999999999": {}} {
		m := &lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: "mine", Name: "m", DeletionTimestamp: &at}}
		n := &lifecycle.Node{ObjectMeta: lifecycle.ObjectMeta{Name: "n"}}
		n.Spec.Taints = []lifecycle.Taint{{Key: "other", Effect: "NoSchedule"}, {Key: "ToBeDeletedByClusterAutoscaler", Value: value, Effect: "NoSchedule"}}
		found := false
		for _, c := range fleet.Why(&fleet.Scene{Machine: m, Node: n}, noon) {
			if c.Trigger == fleet.TriggerAutoscaler {
				found = true
				if !c.Since.Equal(want) {
					t.Errorf("%q: since %v, want %v", value, c.Since, want)
				}
			}
		}
		if !found {
			t.Errorf("%q: the autoscaler is no cause", value)
		}
	}
}

// A timeout of zero is a timeout: only a negative one is refused.
func TestZeroTimeouts(t *testing.T) {
	var h fleet.HealthCheck
	h.Spec.UnhealthyConditions = []fleet.UnhealthyCondition{{Type: "Ready", Status: "False"}}
	h.Spec.UnhealthyMachineConditions = []fleet.UnhealthyCondition{{Type: "Ready", Status: "False"}}
	if err := h.Check(); err != nil {
		t.Error(err)
	}
	h.Spec.UnhealthyConditions[0].Timeout, h.Spec.UnhealthyMachineConditions[0].Timeout = -1, -1
	if err := h.Check(); err == nil || strings.Count(err.Error(), "is negative") != 2 {
		t.Error(err)
	}
}

// A check without machines has nothing to look at again.
func TestCheckOfNothing(t *testing.T) {
	h := fleet.HealthCheck{ObjectMeta: lifecycle.ObjectMeta{Namespace: "mine", Name: "h"}}
	h.Spec.Selector.MatchLabels = map[string]string{"role": "worker"}
	if r, err := h.Evaluate(nil, noon); err != nil || !r.Wake.IsZero() {
		t.Errorf("wake %v, %v", r.Wake, err)
	}
}

// As many as may be replaced at a time are, without a word about others.
func TestMaxInFlightIsMet(t *testing.T) {
	h := fleet.HealthCheck{ObjectMeta: lifecycle.ObjectMeta{Namespace: "mine", Name: "h"}}
	h.Spec.Selector.MatchLabels = map[string]string{"role": "worker"}
	h.Spec.MaxInFlight = &fairlead.IntOrString{Int: 1}
	controller := true
	m := &lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Namespace: "mine", Name: "a", Labels: h.Spec.Selector.MatchLabels}}
	m.OwnerReferences = []lifecycle.OwnerReference{{Kind: "MachineSet", Name: "s", Controller: &controller}}
	m.Status.Phase = lifecycle.PhaseFailed
	r, err := h.Evaluate([]fleet.Target{{Machine: m}}, noon)
	if err != nil || len(r.Remediate) != 1 || len(r.Blocked) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
