package lifecycle_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Apply implements lifecycle.Backend.
func (y *yard) Apply(ctx context.Context, machine string, a lifecycle.Action) error {
	y.truth = y.Machine(machine)
	err := y.MemBackend.Apply(ctx, machine, a)
	y.looked(machine)
	return err
}

// Check implements fairlead.Trial.
func (y *yard) Check() error { return y.wrong }

// looked notes the hooks of a machine: I3.
func (y *yard) looked(machine string) {
	m, r := y.Machine(machine), y.records[machine]
	if m == nil || !m.Deleting() {
		return
	}
	left := len(m.Spec.LifecycleHooks.PreDrain) + len(m.Spec.LifecycleHooks.PreTerminate)
	if r.hooks >= 0 && left > r.hooks {
		y.fail("I3: %s is being deleted, and has %d hooks after %d", machine, left, r.hooks)
	}
	r.hooks = left
}

// check is told of each action that has changed something, while the backend is locked.
func (y *yard) check(machine string, a lifecycle.Action) {
	y.seen[a.Key().Kind]++
	r, m := y.records[machine], y.truth
	if _, event := a.(lifecycle.RecordEvent); r.finalized > 0 && !event {
		y.fail("I6: %s is done with, and %s is applied", machine, describe(a))
	}
	switch a := a.(type) {
	case drain.Cordon, drain.Evict, drain.DeletePod:
		if m != nil && len(m.Spec.LifecycleHooks.PreDrain) > 0 {
			y.fail("I1: %s has preDrain hooks %v, and %s is applied", machine, m.Spec.LifecycleHooks.PreDrain, describe(a))
		}
	case lifecycle.RemoveHook:
		if a.Owner != y.unfair || len(y.policy.Deadlines) == 0 {
			y.fail("%s: hook %s of %s is removed in its owner's stead", machine, a.Name, a.Owner)
		}
	case lifecycle.DeleteObject:
		if a.Kind != "KubeadmConfig" {
			y.ends(machine, m, r)
		} else if !r.terminated {
			y.fail("%s: %s, and the infrastructure is there", machine, a)
		}
	case lifecycle.DeleteInstance:
		y.ends(machine, m, r)
	case lifecycle.DeleteNode:
		if !r.terminated || !r.nodes[a.UID] {
			y.fail("%s: node %s (%s) is deleted, and its own are %v, its instance deleted: %v", machine, a.Name, a.UID, r.nodes, r.terminated)
		}
	case lifecycle.RemoveFinalizer:
		if r.finalized++; r.finalized > 1 || !r.terminated {
			y.fail("I6: the finalizer of %s is removed %d times, its instance deleted: %v", machine, r.finalized, r.terminated)
		}
	}
}

// ends: I2, whatever ends the instance.
func (y *yard) ends(machine string, m *lifecycle.Machine, r *record) {
	r.terminated = true
	drained := lifecycle.FindCondition(m.Status.Conditions, lifecycle.ConditionDrained)
	if drained != nil && drained.Reason == "DrainAgain" {
		y.seen["order overtaken"]++ // a node that joins after the order was given cannot take it back
		return
	}
	if len(m.Spec.LifecycleHooks.PreTerminate) > 0 || drained == nil || drained.Status != "True" {
		y.fail("I2: %s has hooks %v and condition %v, and its instance is deleted", machine, m.Spec.LifecycleHooks.PreTerminate, drained)
	}
}

// decided: I2, I4, I7, I8, I9, and that each hook that is waited for is named.
func (y *yard) decided(state *lifecycle.State, w *lifecycle.World, now time.Time, d *lifecycle.Decision) {
	if w.Machine == nil || !w.Machine.Deleting() {
		return
	}
	machine := w.Machine.String()
	y.records[machine].blocked = d.Blocks()
	if y.forward(machine, state, now, d); len(d.Actions) > 0 {
		y.again(machine, w, now, d)
	}
	drained := lifecycle.FindCondition(w.Machine.Status.Conditions, lifecycle.ConditionDrained)
	for _, a := range d.Actions {
		o, object := a.(lifecycle.DeleteObject)
		_, is := a.(lifecycle.DeleteInstance)
		switch ends := is || object && o.Kind == "DockerMachine"; {
		case !ends:
		case w.Node != nil && d.State.DrainedNode != w.Node.UID:
			y.fail("I2: %s: the instance is deleted, and node %s (%s) is not drained: %q was", machine, w.Node.Name, w.Node.UID, d.State.DrainedNode)
		case drained == nil || drained.Status != "True": // whatever may overtake the order
			y.fail("I2: %s: the instance is to be deleted, and its condition is %v", machine, drained)
		}
	}
	if d.State.Stage != lifecycle.StageDone && len(d.Blocked) == 0 && len(d.Actions) == 0 && d.Wake.IsZero() {
		y.fail("I9: %s waits at %s in silence", machine, d.State.Stage)
	}
	for _, b := range d.Blocks() {
		if b.Since.IsZero() || b.Unblock == "" || b.Subject == "" || b.Reason == "" || b.Message == "" || b.Since.After(now) {
			y.fail("I9: a block says too little: %+v", b)
		}
	}
	point := map[lifecycle.Stage]lifecycle.Point{lifecycle.StagePreDrain: lifecycle.PreDrain, lifecycle.StagePreTerminate: lifecycle.PreTerminate}[d.State.Stage]
	for _, h := range w.Machine.Spec.LifecycleHooks.At(point) {
		if !slices.ContainsFunc(d.Blocked, func(x fairlead.Block) bool {
			return x.Point == string(point) && x.Name == h.Name && x.Owner == h.Owner
		}) {
			y.fail("I9: %s waits for %s of %s and does not say so: %v", machine, h.Name, h.Owner, d.Blocked)
		}
	}
}

// forward: I4, a deletion goes on from what was saved, which is never less than before,
// and back only to drain again.
func (y *yard) forward(machine string, state *lifecycle.State, now time.Time, d *lifecycle.Decision) {
	r := y.records[machine]
	again := slices.ContainsFunc(state.Notes, func(n lifecycle.Note) bool { return n.Reason == "DrainAgain" })
	if r.finalized == 0 && state.Stage != r.stage && !state.Stage.Past(r.stage) && !again {
		y.fail("I4: %s was at %s, and its state is at %q", machine, r.stage, state.Stage)
	}
	r.stage = state.Stage
	if state.UID != d.State.UID || d.State.Stage == state.Stage || d.State.Stage.Past(state.Stage) {
		return
	}
	notes := d.State.Notes
	if slices.ContainsFunc(d.State.Began, func(b lifecycle.Beginning) bool { // now, even if that is over at once
		return b.Stage == lifecycle.StageDrain && b.At.Equal(now)
	}) && len(notes) > 0 && notes[len(notes)-1].Reason == "DrainAgain" {
		y.seen["drained again"]++
		return
	}
	y.fail("I4: %s goes from %s back to %s", machine, state.Stage, d.State.Stage)
}

// again: I7 and I8, the same world again decides on nothing more.
func (y *yard) again(machine string, w *lifecycle.World, now time.Time, d *lifecycle.Decision) {
	if most := 2*len(w.Pods) + 12; len(d.Actions) > most {
		y.fail("I7: %s: %d actions at once for %d pods", machine, len(d.Actions), len(w.Pods))
	}
	again := lifecycle.Step(d.State, w, now, y.policy)
	for range w.Pods { // pods may be asked to go one after the other
		again = lifecycle.Step(again.State, w, now, y.policy)
	}
	last := lifecycle.Step(again.State, w, now, y.policy)
	for _, a := range slices.Concat(again.Actions, last.Actions) {
		if slices.ContainsFunc(d.Actions, func(b lifecycle.Action) bool { return a.Key() == b.Key() }) {
			y.fail("I8: %s: the same again decides on %s again", machine, describe(a))
		}
	}
	if len(last.Actions) > 0 || !reflect.DeepEqual(again.State, last.State) {
		y.fail("I8: %s: the same again and again decides on %v", machine, last)
	}
}

// checkYards runs the engine on fleets of a size, and returns what was seen.
func checkYards(t *testing.T, size int, o fairlead.TrialOptions) map[string]int {
	seen := map[string]int{}
	var at *yard
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*lifecycle.World, lifecycle.Action] {
		at = openYard(r, clock, size, seen)
		return at
	}
	engine, err := lifecycle.NewEngine(new(lifecycle.MemBackend), nil)
	if err != nil {
		t.Fatal(err)
	}
	engine.Step = func(state lifecycle.State, w *lifecycle.World, now time.Time) lifecycle.Decision {
		d := lifecycle.Step(state, w, now, at.policy) // each fleet has its own
		at.decided(&state, w, now, &d)
		return d
	}
	o.Names = names(size)
	if err := fairlead.CheckEngine(t.Context(), engine, open, &o); err != nil {
		t.Fatal(err)
	}
	t.Log(seen)
	return seen
}

// TestEngine deletes machines with faults of all kinds, and checks I1 to I4 and I6 to I9 of
// the package documentation. In the end every deletion is over, or names the owner that
// keeps it.
func TestEngine(t *testing.T) {
	seen := checkYards(t, 3, fairlead.TrialOptions{Runs: long.N(200, 10_000)})
	for _, kind := range append(strings.Fields("Cordon Evict UpdateStatus DeleteInstance DeleteObject DeleteNode RemoveFinalizer RemoveHook finished"), "late hook", "node reborn", "drained again", "unfair is named") {
		if seen[kind] == 0 {
			t.Errorf("there was no %s", kind)
		}
	}
}

// TestEngineOfLargeFleets is the same for a thousand machines.
func TestEngineOfLargeFleets(t *testing.T) {
	if !long.Enabled() {
		t.Skipf("fleets of 1,000 machines take minutes; %s=1 runs five", long.Variable)
	}
	checkYards(t, 1000, fairlead.TrialOptions{Runs: 5, Moves: 20_000})
}
