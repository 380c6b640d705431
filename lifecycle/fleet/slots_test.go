package fleet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

var one = fairlead.IntOrString{Int: 1}

// TestWaitsForSlot: a machine whose limit is full is not cordoned, and says who
// is in its way.
func TestWaitsForSlot(t *testing.T) {
	m := &lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Name: "m1", UID: "u1", DeletionTimestamp: &noon, Finalizers: []string{lifecycle.Finalizer}}}
	m.Status.NodeRef = &lifecycle.NodeRef{Name: "n1"}
	m.Status.Phase = lifecycle.PhaseDeleting
	m.Status.Conditions = []lifecycle.Condition{{Type: lifecycle.ConditionDrainable, Status: "True"}, {Type: lifecycle.ConditionTerminable, Status: "True"}}
	n := &lifecycle.Node{ObjectMeta: lifecycle.ObjectMeta{Name: "n1", UID: "un"}}
	members := append(fleet.Members([]lifecycle.Machine{*m}), drain.Member{Name: "m0", UID: "u0", Asked: noon.Add(-time.Hour)})
	a, err := drain.Admit(nil, members, []drain.Limit{{Name: "one", Max: one}}, noon)
	if err != nil {
		t.Fatal(err)
	}
	w := &lifecycle.World{Machine: m, Instance: lifecycle.InstanceExists, Slots: a.SlotsOf("m1")}
	w.Node = n
	d := lifecycle.Step(lifecycle.State{}, w, noon.Add(time.Hour), nil)
	blocks := d.Blocks()
	if len(d.Actions) > 0 || len(blocks) != 1 || blocks[0].Reason != lifecycle.ReasonSlotTaken || blocks[0].Owner != "machine m0" || !blocks[0].Since.Equal(noon) {
		t.Fatalf("%v, %v", d.Actions, blocks)
	}
	w.Slots = nil
	if d = lifecycle.Step(d.State, w, noon.Add(2*time.Hour), nil); len(d.Actions) != 1 {
		t.Fatalf("%v", d.Actions)
	}
}

// TestSlotUntilGone: a machine that is drained is still on its way out, and keeps
// its slot until it is gone, also where the slots were lost. One that is excluded
// from draining goes all the same, and counts.
func TestSlotUntilGone(t *testing.T) {
	limits := []drain.Limit{{Name: "masters", Max: one}}
	machine := func(name string, asked time.Time) lifecycle.Machine {
		return lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Name: name, UID: "u-" + name, DeletionTimestamp: &asked}}
	}
	first, second := machine("first", noon.Add(time.Minute)), machine("second", noon)
	first.Status.Conditions = []lifecycle.Condition{{Type: lifecycle.ConditionDrained, Status: "True"}}
	check := func(what, want string, slots []drain.Slot, machines ...lifecycle.Machine) []drain.Slot {
		t.Helper()
		a, err := drain.Admit(slots, fleet.Members(machines), limits, noon.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(a.Admitted); got != want {
			t.Errorf("%s: %s are admitted, want %s", what, got, want)
		}
		return a.Slots
	}
	held := check("drained, with a slot", "[first]", []drain.Slot{{Limit: "masters", Holder: "first", UID: "u-first", Since: noon}}, first, second)
	check("drained, the slots are lost", "[first]", nil, second, first)
	check("gone", "[second]", held, second)
	first.Status.Conditions = nil
	first.Annotations = map[string]string{lifecycle.ExcludeDrainAnnotation: ""}
	check("excluded", "[first]", nil, second, first)
	alive := first
	alive.DeletionTimestamp = nil
	check("not deleted", "[second]", nil, second, alive)
}

// TestHookHoldsNobodyUp: a preDrain hook that nobody removes takes no slot while
// the drain has not begun; one that is set later does, and is named to those who
// wait.
func TestHookHoldsNobodyUp(t *testing.T) {
	machine := func(name string, asked time.Time) lifecycle.Machine {
		return lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Name: name, UID: "u-" + name, DeletionTimestamp: &asked}}
	}
	first, second := machine("first", noon), machine("second", noon.Add(time.Minute))
	first.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "MigrateApp", Owner: "app-controller"}}
	admit := func() *drain.Admission {
		a, err := drain.Admit(nil, fleet.Members([]lifecycle.Machine{first, second}), []drain.Limit{{Name: "one", Max: one}}, noon.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := admit(); fmt.Sprint(a.Admitted) != "[second]" || len(a.Blocked) > 0 {
		t.Errorf("%+v", a)
	}
	first.Status.Conditions = []lifecycle.Condition{{Type: lifecycle.ConditionDrained, Status: "False"}}
	a := admit()
	if fmt.Sprint(a.Admitted) != "[first]" || len(a.Blocked) != 1 || !strings.Contains(a.Blocked[0].Message, "preDrain hook MigrateApp of app-controller") {
		t.Errorf("%+v", a)
	}
}

// TestMembersInPlace: a machine that is updated in place takes room, from when that
// is asked for until its end is noted.
func TestMembersInPlace(t *testing.T) {
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		annotations map[string]string
		down        bool
	}{
		{map[string]string{lifecycle.UpdatingAnnotation: ""}, true},
		{map[string]string{"runtime.cluster.x-k8s.io/pending-hooks": "AfterUpgrade,UpdateMachine"}, true},
		{map[string]string{"runtime.cluster.x-k8s.io/pending-hooks": "AfterUpgrade"}, false},
		{nil, false},
	} {
		m := lifecycle.Machine{ObjectMeta: lifecycle.ObjectMeta{Name: "a", Annotations: c.annotations}}
		m.Status.NodeRef = &lifecycle.NodeRef{Name: "n"}
		m.Status.Conditions = []lifecycle.Condition{{Type: "Updating", Status: "True", LastTransitionTime: since}}
		k := fleet.Members([]lifecycle.Machine{m})[0]
		if (k.Down != "") != c.down || k.DownSince.Equal(since) != c.down {
			t.Errorf("%v: down %q since %s", c.annotations, k.Down, k.DownSince)
		}
		m.Status.Conditions = nil
		if bare := fleet.Members([]lifecycle.Machine{m})[0]; bare.Down != k.Down || !bare.DownSince.IsZero() {
			t.Errorf("%v without a condition: down %q since %s", c.annotations, bare.Down, bare.DownSince)
		}
		picks, err := fleet.ScaleDown([]lifecycle.Machine{m}, 1, fleet.DeleteOldest, fleet.ClusterAPI, since)
		if err != nil || strings.Contains(picks[0].Why, "updated in place") != c.down {
			t.Errorf("%v: %v, %v", c.annotations, picks, err)
		}
	}
}

// TestMembersHeld: what keeps a slot is named by the hook of whichever point has one.
func TestMembersHeld(t *testing.T) {
	var m lifecycle.Machine
	m.DeletionTimestamp = &noon
	m.Spec.LifecycleHooks.PreTerminate = []lifecycle.Hook{{Name: "backup", Owner: "storage"}}
	if k := fleet.Members([]lifecycle.Machine{m})[0]; k.Held != "preTerminate hook backup of storage" {
		t.Errorf("held by %q", k.Held)
	}
}
