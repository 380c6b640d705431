package rollout_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// TestChosenTakesRoom: a node that was chosen takes its room from then on, also
// if it does not seem to know, another one would come first by now, or it takes
// no pods for a while.
func TestChosenTakesRoom(t *testing.T) {
	w := workers()
	d := rollout.Step(rollout.State{}, w, start, nil)
	if len(d.State.Begun) != 1 || d.State.Begun[0].Node != "c" {
		t.Fatalf("%+v", d.State)
	}
	first := w.Nodes[0]
	first.Name, first.Labels = "d", map[string]string{rollout.LabelZone: "airport"}
	w.Nodes = append(w.Nodes, first)
	for range 3 {
		start := start.Add(time.Second)
		d = rollout.Step(d.State, w, start, nil)
		for _, a := range d.Actions {
			if b, ok := a.(rollout.Begin); ok && b.Node != "c" {
				t.Errorf("%s is begun beside c", b.Node)
			}
		}
		if !slices.ContainsFunc(d.State.Begun, func(b rollout.Begun) bool { return b.Node == "c" }) {
			t.Errorf("c was forgotten: %+v", d.State)
		}
		w.Nodes[2].Spec.Unschedulable = true // by somebody else
	}
	w.Nodes = slices.Delete(w.Nodes, 2, 3)
	if d = rollout.Step(d.State, w, start, nil); len(d.State.Begun) != 1 || d.State.Begun[0].Node != "d" {
		t.Errorf("c is gone, and still takes room: %+v", d.State)
	}
}

// TestBudgetLowered: what was chosen and does not know yet waits when the budget
// has become smaller meanwhile, one after the other.
func TestBudgetLowered(t *testing.T) {
	w := workers()
	w.Pool.Spec.MaxUnavailable = &rollout.IntOrString{Int: 3}
	d := rollout.Step(rollout.State{}, w, start, nil)
	if len(d.State.Begun) != 3 {
		t.Fatalf("%+v", d.State)
	}
	w.Pool.Spec.MaxUnavailable = nil
	begun := 0
	for _, a := range rollout.Step(d.State, w, start.Add(time.Hour), nil).Actions {
		if _, ok := a.(rollout.Begin); ok {
			begun++
		}
	}
	if begun != 1 {
		t.Errorf("%d nodes are told, and one may be down", begun)
	}
}

// TestBackoff: an action whose effect is not seen is repeated after a pause that
// doubles, up to a limit, and also when the clock was set back.
func TestBackoff(t *testing.T) {
	w := workers()
	d, last := rollout.Step(rollout.State{}, w, start, nil), start
	var pauses []time.Duration
	for at := start; at.Before(start.Add(5 * time.Minute)); at = at.Add(time.Second) {
		d = rollout.Step(d.State, w, at, nil)
		if slices.ContainsFunc(d.Actions, func(a rollout.Action) bool { return a.String() == "begin c rendered-worker-2" }) {
			pauses, last = append(pauses, at.Sub(last)), at
		}
		if d.Wake.IsZero() || d.Wake.After(at.Add(time.Minute)) {
			t.Fatalf("at %v it looks again at %v", at, d.Wake)
		}
	}
	want := []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute, time.Minute}
	if !slices.Equal(pauses, want) {
		t.Errorf("pauses %v, want %v", pauses, want)
	}
	if d = rollout.Step(d.State, w, start.Add(-time.Hour), nil); len(d.Actions) == 0 {
		t.Error("the clock was set back, and nothing is repeated")
	}
}

// begins returns the nodes that a decision begins.
func begins(d rollout.Decision) []string {
	var names []string
	for _, a := range d.Actions {
		if b, ok := a.(rollout.Begin); ok {
			names = append(names, b.Node)
		}
	}
	return names
}

// reasons returns the reasons of a decision's Blocks.
func reasons(d rollout.Decision) []string {
	var list []string
	for _, b := range d.Blocked {
		list = append(list, b.Reason)
	}
	return list
}

// TestChosenWaits: a node that was chosen and does not know yet is not told while
// another image is being built, or a peer is down; afterwards it is.
func TestChosenWaits(t *testing.T) {
	for _, c := range []struct {
		reason string
		change func(w *rollout.World)
	}{
		{rollout.ReasonBuild, func(w *rollout.World) { w.Build = &rollout.Build{Name: "b", State: rollout.BuildRunning} }},
		{rollout.ReasonPeers, func(w *rollout.World) {
			w.Peers = []rollout.Node{{ObjectMeta: rollout.ObjectMeta{Name: "peer"}}} // it was told nothing, and so is not done
		}},
	} {
		w := workers()
		d := rollout.Step(rollout.State{}, w, start, nil)
		if len(begins(d)) != 1 {
			t.Fatalf("%v", d.Actions)
		}
		c.change(w)
		d = rollout.Step(d.State, w, start.Add(time.Hour), nil)
		if len(begins(d)) != 0 || !slices.Contains(reasons(d), c.reason) {
			t.Errorf("%s: begun %v, blocked by %v", c.reason, begins(d), reasons(d))
		}
		w.Build, w.Peers = nil, nil
		if d = rollout.Step(d.State, w, start.Add(2*time.Hour), nil); len(begins(d)) != 1 {
			t.Errorf("%s is over: begun %v, blocked by %v", c.reason, begins(d), reasons(d))
		}
	}
}

// TestBrokenWaitsForImage: a broken node is given another try when the image is
// there, and not before.
func TestBrokenWaitsForImage(t *testing.T) {
	w := workers()
	n := &w.Nodes[0]
	n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationState] = "rendered-worker-1b", rollout.StateDegraded
	w.Build = &rollout.Build{Name: "b", State: rollout.BuildRunning}
	d := rollout.Step(rollout.State{}, w, start, nil)
	if len(begins(d)) != 0 {
		t.Errorf("%v is begun without an image", begins(d))
	}
	w.Build = nil
	if d = rollout.Step(d.State, w, start.Add(time.Hour), nil); !slices.Contains(begins(d), n.Name) {
		t.Errorf("%s gets no other try: %v", n.Name, begins(d))
	}
}

// TestToldAgain: nodes that nobody has told anything do not take the room of the
// one of them that was chosen.
func TestToldAgain(t *testing.T) {
	w := workers()
	for i := range w.Nodes {
		w.Nodes[i].Annotations = nil
	}
	d := rollout.Step(rollout.State{}, w, start, nil)
	first := begins(d)
	d = rollout.Step(d.State, w, start.Add(time.Hour), nil)
	if len(first) != 1 || !slices.Equal(begins(d), first) {
		t.Errorf("begun %v, and then %v, blocked by %v", first, begins(d), reasons(d))
	}
}

// TestStartedByOthers: a node that somebody else has started, or this engine before it lost its state, is
// taken over at the stage where it is: it takes room, goes on, says what it waits for, and is forgotten
// when it is through.
func TestStartedByOthers(t *testing.T) {
	for _, c := range []struct {
		stage  rollout.NodeStage
		reason string
		next   string // the action; empty if it is the node's turn
		change func(n *rollout.Node)
	}{
		{rollout.StageCordon, rollout.ReasonCordon, "Cordon", func(*rollout.Node) {}},
		{rollout.StageDrain, rollout.ReasonDraining, "Drain", func(n *rollout.Node) { n.Spec.Unschedulable = true }},
		{rollout.StageUpdate, rollout.ReasonUpdating, "Update", func(n *rollout.Node) {
			n.Spec.Unschedulable = true
			n.Annotations[rollout.AnnotationDesiredDrain], n.Annotations[rollout.AnnotationLastDrain] = "drain-v9", "drain-v9"
		}},
		{rollout.StageDegraded, rollout.ReasonDegraded, "", func(n *rollout.Node) {
			n.Annotations[rollout.AnnotationState] = rollout.StateDegraded
		}},
		{rollout.StageUncordon, rollout.ReasonUncordon, "Uncordon", func(n *rollout.Node) {
			n.Spec.Unschedulable, n.Annotations[rollout.AnnotationCurrent] = true, "v9"
			n.Annotations[rollout.AnnotationDesiredDrain], n.Annotations[rollout.AnnotationLastDrain] = "drain-v9", "drain-v9"
		}},
	} {
		w := workers()
		w.Pool.Spec.Paused = true // which is for nodes that are not on their way
		n := &w.Nodes[1]
		n.Annotations[rollout.AnnotationDesired] = "v9"
		if c.change(n); rollout.Stage(n) != c.stage {
			t.Fatalf("the node is at %s, not at %s", rollout.Stage(n), c.stage)
		}
		d := rollout.Step(rollout.State{}, w, start, nil)
		want := rollout.Begun{Node: n.Name, Configuration: rollout.Configuration{Name: "v9"}, Since: start, Told: true}
		if len(d.State.Begun) != 1 || d.State.Begun[0] != want {
			t.Errorf("%s: remembered %+v", c.stage, d.State.Begun)
		}
		if !slices.ContainsFunc(d.Blocked, func(b fairlead.Block) bool { return b.Subject == "node "+n.Name && b.Reason == c.reason }) {
			t.Errorf("%s: nobody says what it waits for: %v", c.stage, d.Blocked)
		}
		if got := slices.ContainsFunc(d.Actions, func(a rollout.Action) bool { return a.Key().Kind == c.next }); got != (c.next != "") {
			t.Errorf("%s: it does not go on: %v", c.stage, d.Actions)
		}
		w.Pool.Spec.Paused = c.stage == rollout.StageDegraded // it would be given what the pool has now
		if d = rollout.Step(d.State, w, start.Add(time.Hour), nil); len(begins(d)) > 0 {
			t.Errorf("%s: %v is begun beside it", c.stage, begins(d))
		}
		w.Pool.Spec.Paused = true
		n.Spec.Unschedulable, n.Annotations[rollout.AnnotationCurrent], n.Annotations[rollout.AnnotationState] = false, "v9", rollout.StateDone
		if d = rollout.Step(d.State, w, start.Add(2*time.Hour), nil); len(d.State.Begun) > 0 {
			t.Errorf("%s: it is through, and remembered: %+v", c.stage, d.State.Begun)
		}
	}
}
