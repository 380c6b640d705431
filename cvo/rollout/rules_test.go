package rollout_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
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
	for effect, marked := range map[fairlead.TaintEffect]bool{fairlead.PreferNoSchedule: false, fairlead.NoSchedule: true} {
		w := workers()
		for i := range w.Nodes {
			w.Nodes[i].Spec.Taints = []fairlead.Taint{{Key: rollout.TaintUpdate, Effect: effect}}
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

// newRunner returns a runner of a policy that is well.
func newRunner(tb testing.TB, backend rollout.Backend, policy *rollout.Policy, opts *fairlead.RunnerOptions) *rollout.Runner {
	tb.Helper()
	r, err := rollout.NewRunner(backend, policy, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// again puts a value through JSON.
func again[T any](t *testing.T, v T) T {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// TestThroughJSON: what Step takes and returns goes through JSON and comes back
// equal, and on what came back it decides the same.
func TestThroughJSON(t *testing.T) {
	clock := new(fairlead.ManualClock)
	clock.Set(start)
	b := &rollout.MemBackend{Clock: clock, DrainTime: func(string) time.Duration { return time.Minute }, UpdateTime: func(string, string) (time.Duration, error) { return time.Minute, nil }}
	if err := b.Edit("worker", func(w *rollout.World) error { *w = *workers(); return nil }); err != nil {
		t.Fatal(err)
	}
	policy := &rollout.Policy{MinBackoff: time.Second, MaxBackoff: time.Minute, SlowDrain: 5 * time.Minute, SlowUpdate: time.Hour}
	r := newRunner(t, b, policy, &fairlead.RunnerOptions{Clock: clock})
	kinds := map[string]int{}
	for range 300 {
		state, err := r.State(t.Context(), "worker")
		if err != nil {
			t.Fatal(err)
		}
		w := b.World("worker")
		w.Outcomes = []fairlead.Outcome{fairlead.OutcomeOf(rollout.Cordon{Node: "c"}.Key(), errors.New("no"), clock.Now())}
		d := rollout.Step(state, w, clock.Now(), policy)
		for _, a := range d.Actions {
			kinds[a.Key().Kind]++
		}
		if back := again(t, d); !reflect.DeepEqual(back, d) {
			t.Fatalf("%+v\nbecame\n%+v", d, back)
		}
		if back := rollout.Step(again(t, state), again(t, w), clock.Now(), again(t, policy)); !reflect.DeepEqual(back, d) {
			t.Fatalf("%+v\nbecame\n%+v", d, back)
		}
		if _, err := r.Reconcile(t.Context(), "worker"); err != nil {
			t.Fatal(err)
		}
		clock.Set(clock.Now().Add(5 * time.Second))
	}
	for _, kind := range []string{"Begin", "Cordon", "Drain", "Update", "Uncordon", "Mark", "Report"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s: %v", kind, kinds)
		}
	}
}

// TestOldState: a state that version 1 has saved is read: what was begun is, and
// what waits has waited since then.
func TestOldState(t *testing.T) {
	text, err := os.ReadFile("testdata/state/v1.json")
	if err != nil {
		t.Fatal(err)
	}
	clock, store := new(fairlead.ManualClock), new(fairlead.MemStore)
	clock.Set(start.Add(time.Minute))
	if _, err := store.Put(t.Context(), fairlead.StateKey("rollout", "worker"), text, ""); err != nil {
		t.Fatal(err)
	}
	b := &rollout.MemBackend{Clock: clock}
	if err := b.Edit("worker", func(w *rollout.World) error {
		*w = *workers()
		n := &w.Nodes[2]
		n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationDesiredDrain], n.Spec.Unschedulable = "rendered-worker-2", "drain-rendered-worker-2", true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	d, err := newRunner(t, b, nil, &fairlead.RunnerOptions{Store: store, Clock: clock}).Reconcile(t.Context(), "worker")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.State.Begun) != 1 || !d.State.Begun[0].Since.Equal(start) || !slices.ContainsFunc(d.Blocked, func(b fairlead.Block) bool {
		return b.Reason == rollout.ReasonDraining && b.Since.Equal(start.Add(2*time.Second))
	}) {
		t.Errorf("%+v, %v", d.State, d.Blocked)
	}
}

// TestPolicy: durations are text, and what makes no sense is told.
func TestPolicy(t *testing.T) {
	text, err := json.Marshal(&rollout.Policy{SlowDrain: 90 * time.Minute})
	if err != nil || string(text) != `{"slowDrain":"1h30m0s"}` {
		t.Errorf("%s, %v", text, err)
	}
	for path, p := range map[string]*rollout.Policy{"": nil, "slowDrain": {SlowDrain: -1}, "maxBackoff": {MinBackoff: time.Hour, MaxBackoff: time.Minute}} {
		err := p.Check()
		if (err == nil) != (path == "") || err != nil && !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: %v", path, err)
		}
		if _, failed := rollout.NewRunner(new(rollout.MemBackend), p, nil); (failed == nil) != (err == nil) {
			t.Errorf("%s: a runner: %v", path, failed)
		}
	}
}
