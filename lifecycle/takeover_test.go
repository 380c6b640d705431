package lifecycle_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/lifecycle"
)

// began returns when a state says that a stage began.
func began(s *lifecycle.State, stage lifecycle.Stage) (at time.Time) {
	for _, b := range s.Began {
		if b.Stage == stage {
			at = b.At
		}
	}
	return at
}

// A deletion that another controller has begun goes on where it is, and its time counts from
// when that controller says that the stage began: unless that is still to come by our clock.
func TestTakenOver(t *testing.T) {
	now := start
	for name, c := range map[string]struct{ reported, want time.Time }{
		"earlier":      {now.Add(-time.Hour), now.Add(-time.Hour)},
		"yet to come":  {now.Add(time.Hour), now},
		"not reported": {time.Time{}, now},
	} {
		w := draining()
		w.Machine.Status.Deletion = &lifecycle.MachineDeletionStatus{}
		if !c.reported.IsZero() {
			w.Machine.Status.Deletion.NodeDrainStartTime = &c.reported
		}
		d := lifecycle.Step(lifecycle.State{}, w, now, nil)
		if got := began(&d.State, lifecycle.StageDrain); d.State.Stage != lifecycle.StageDrain || !got.Equal(c.want) {
			t.Errorf("%s: at %s since %v, want the drain since %v", name, d.State.Stage, got, c.want)
		}
	}
}

// What another controller reports does not move the beginning of a stage that this one has
// reached by itself.
func TestOwnStagesBeginNow(t *testing.T) {
	now := start
	w := draining()
	w.Machine.Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "Hook", Owner: "owner"}}
	d := lifecycle.Step(lifecycle.State{}, w, now, nil)
	if d.State.Stage != lifecycle.StagePreDrain {
		t.Fatalf("it is at %s", d.State.Stage)
	}
	old, later := now.Add(-time.Hour), now.Add(time.Minute)
	w.Machine.Spec.LifecycleHooks.PreDrain = nil
	w.Machine.Status.Deletion = &lifecycle.MachineDeletionStatus{NodeDrainStartTime: &old}
	d = lifecycle.Step(d.State, w, later, nil)
	if got := began(&d.State, lifecycle.StageDrain); d.State.Stage != lifecycle.StageDrain || !got.Equal(later) {
		t.Errorf("at %s since %v, want the drain since %v", d.State.Stage, got, later)
	}
}

// Who takes over a drained machine repeats what was said of its drain, and if nothing was, that
// it went well.
func TestTakenOverDrained(t *testing.T) {
	for message, want := range map[string]string{"": "Drain finished successfully", "Node drain skipped: by hand": "Node drain skipped: by hand"} {
		w := draining()
		w.Machine.Status.Conditions = append(w.Machine.Status.Conditions, lifecycle.Condition{Type: lifecycle.ConditionDrained, Status: "True", Message: message})
		d := lifecycle.Step(lifecycle.State{}, w, start, nil)
		if d.State.Drained != want || !d.State.Stage.Past(lifecycle.StageDrain) {
			t.Errorf("message %q: at %s, drained: %q, want %q", message, d.State.Stage, d.State.Drained, want)
		}
	}
}
