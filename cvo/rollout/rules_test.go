package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/object"
)

// TestQuorum: the budget of a control plane never takes its quorum, and a Block
// says so.
func TestQuorum(t *testing.T) {
	for _, c := range []struct {
		pool, max string
		size, may int
	}{
		{"master", "", 3, 1}, {"master", "2", 3, 1}, {"master", "3", 3, 1}, {"master", "100%", 3, 1},
		{"master", "1", 1, 1}, {"master", "2", 2, 1}, {"master", "4", 5, 2}, {"master", "1", 5, 1},
		{"worker", "3", 3, 3}, {"worker", "100%", 5, 5},
	} {
		w := workers()
		w.Pool.Name, w.Nodes = c.pool, nil
		for i := range c.size {
			n := workers().Nodes[0]
			n.Name = fmt.Sprintf("n%d", i)
			w.Nodes = append(w.Nodes, n)
		}
		if c.max != "" {
			v := rollout.IntOrString{Text: c.max}
			if fmt.Sscanf(c.max, "%d", &v.Int); !strings.HasSuffix(c.max, "%") {
				v.Text = ""
			}
			w.Pool.Spec.MaxUnavailable = &v
		}
		d := rollout.Step(rollout.State{}, w, start, nil)
		if got := len(begins(d)); got != c.may {
			t.Errorf("%+v: %d are begun", c, got)
		}
		asked := map[string]int{"": 1, "100%": c.size, "1": 1, "2": 2, "3": 3, "4": 4}[c.max]
		if told := slices.Contains(reasons(d), rollout.ReasonQuorum); told != (asked > c.may) {
			t.Errorf("%+v: told %v: %v", c, told, d.Blocked)
		}
	}
}

// TestAllCordoned: a pool whose nodes are all cordoned is one line, with an owner.
func TestAllCordoned(t *testing.T) {
	w := workers()
	for i := range w.Nodes {
		w.Nodes[i].Spec.Unschedulable = true
	}
	d := rollout.Step(rollout.State{}, w, start, nil)
	if len(d.Blocked) != 1 || d.Blocked[0].Owner == "" || !strings.Contains(d.Blocked[0].Message, "cordoned") {
		t.Errorf("%v", d.Blocked)
	}
	for _, n := range w.Nodes {
		if !strings.Contains(d.Blocked[0].String(), n.Name) {
			t.Errorf("%s is not named: %v", n.Name, d.Blocked[0])
		}
	}
}

// TestPaused: while a pool is paused nothing is begun in it: no broken node gets
// another try, none is tainted, none that was chosen is told. What is on its way
// goes on.
func TestPaused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w *rollout.World, s *rollout.State)
	}{
		{"a node waits", func(w *rollout.World, s *rollout.State) {}},
		{"a broken node", func(w *rollout.World, s *rollout.State) {
			w.Nodes[0].Annotations[rollout.AnnotationDesired], w.Nodes[0].Annotations[rollout.AnnotationState] = "rendered-worker-1b", rollout.StateDegraded
		}},
		{"a node was chosen", func(w *rollout.World, s *rollout.State) {
			s.Begun = []rollout.Begun{{Node: w.Nodes[0].Name, Configuration: w.Pool.Spec.Configuration, Since: start}}
		}},
	} {
		for _, paused := range []bool{false, true} {
			w, s := workers(), rollout.State{}
			c.change(w, &s)
			w.Pool.Spec.Paused = paused
			d := rollout.Step(s, w, start.Add(time.Hour), nil)
			done := 0
			for _, a := range d.Actions {
				if _, ok := a.(rollout.Report); !ok {
					done++
				}
			}
			if paused && done > 0 || !paused && done == 0 {
				t.Errorf("%s, paused %v: %v", c.name, paused, d.Actions)
			}
			if paused && !slices.Contains(reasons(d), rollout.ReasonPaused) {
				t.Errorf("%s: nobody says that the pool is paused: %v", c.name, d.Blocked)
			}
		}
	}
}

// TestTaintEffect: the taint counts with its effect only: another one of the same
// key is somebody else's.
func TestTaintEffect(t *testing.T) {
	for effect, marked := range map[object.TaintEffect]bool{object.PreferNoSchedule: false, object.NoSchedule: true} {
		w := workers()
		for i := range w.Nodes {
			w.Nodes[i].Spec.Taints = []object.Taint{{Key: rollout.TaintUpdate, Effect: effect}}
		}
		d := rollout.Step(rollout.State{}, w, start, nil)
		if got := slices.ContainsFunc(d.Actions, func(a rollout.Action) bool { m, ok := a.(rollout.Mark); return ok && m.Waits }); got != marked {
			t.Errorf("%s: marked %v", effect, got)
		}
	}
}

// TestToldElsewhere: a node that was chosen, and that somebody else has told to run
// something else, finishes that first, and takes room until it does.
func TestToldElsewhere(t *testing.T) {
	w := workers()
	d := rollout.Step(rollout.State{}, w, start, nil)
	name := begins(d)[0]
	n := &w.Nodes[slices.IndexFunc(w.Nodes, func(n rollout.Node) bool { return n.Name == name })]
	n.Annotations[rollout.AnnotationDesired] = "somebody-else"
	d = rollout.Step(d.State, w, start.Add(time.Hour), nil)
	if len(d.State.Begun) != 1 || d.State.Begun[0].Configuration.Name != "somebody-else" || !d.State.Begun[0].Told || len(begins(d)) != 0 {
		t.Errorf("%+v, begun %v", d.State.Begun, begins(d))
	}
	n.Annotations[rollout.AnnotationCurrent] = "somebody-else"
	d = rollout.Step(d.State, w, start.Add(2*time.Hour), nil)
	if got := begins(d); len(got) != 1 {
		t.Errorf("it is through elsewhere, and %v is begun; %v", got, d.State.Begun)
	}
}
