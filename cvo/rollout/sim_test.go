package rollout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/sim"
)

// TestSimulation lets pools get new configurations, be paused and get other
// budgets, and nodes crash, be cordoned, break and come and go, while whatever
// can go wrong does. It checks at the backend that never more nodes are down
// for the update than may be. At last all is well again, and every node must
// run what it is to.
func TestSimulation(t *testing.T) {
	counts := sim.Run(t, long.N(200, 10_000), func(s *sim.Sim) error { return newPlay(t, s).run() })
	t.Log(counts)
	sim.Reached(t, counts,
		"crash", "delay", "again", "stale", "observe fails", "unconfirmed", "other runner", "clock jumps back", "put is not confirmed",
		"node crashes", "cordon by hand", "new target", "pause", "budget", "node added", "node removed", "degraded", "too late", "full budget",
		"act: begin", "act: mark", "act: cordon", "act: drain", "act: update", "act: uncordon", "act: report",
	)
}

// play is one simulation.
type play struct {
	*sim.Sim
	t       *testing.T
	store   *fairlead.MemStore
	backend *rollout.MemBackend
	runners []*rollout.Runner
	two     bool // whether there are two runners
	nested  bool // another runner is at work inside of a call
	crashed bool // the runner at work is gone
	past    []*rollout.World
	late    []rollout.Action // what is on its way to the backend
	budgets map[string]int   // by node: the largest budget that it was chosen with
	targets int
	nodes   int
	healed  bool
	wrong   error
}

func newPlay(t *testing.T, s *sim.Sim) *play {
	p := &play{Sim: s, t: t, store: new(fairlead.MemStore), two: s.OneIn(3), budgets: map[string]int{}}
	slow := func(string) time.Duration { return time.Duration(p.IntN(20)) * time.Second }
	p.backend = &rollout.MemBackend{
		Clock:     s.Clock,
		DrainTime: slow,
		UpdateTime: func(node, _ string) (time.Duration, error) {
			if !p.healed && p.OneIn(8) {
				return slow(node), errors.New("out of luck")
			}
			return slow(node), nil
		},
	}
	p.edit(func(w *rollout.World) {
		p.target(w)
		for range 2 + p.IntN(6) {
			p.addNode(w)
		}
	})
	p.runners = []*rollout.Runner{p.runner(), p.runner()}
	return p
}

func (p *play) runner() *rollout.Runner {
	return newRunner(p.t, p, nil, &fairlead.RunnerOptions{Store: p.Store(p.store), Clock: p.Clock})
}

func (p *play) edit(f func(w *rollout.World)) {
	if err := p.backend.Edit(pool, func(w *rollout.World) error { f(w); return nil }); err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) world() *rollout.World { return p.backend.World(pool) }

func (p *play) fail(format string, args ...any) {
	if p.wrong == nil {
		p.wrong = fmt.Errorf(format, args...)
		p.Note("WRONG: %v", p.wrong)
	}
}

// target gives the pool a configuration that it has not had before.
func (p *play) target(w *rollout.World) {
	p.targets++
	w.Pool.Spec.Configuration = rollout.Configuration{Name: fmt.Sprintf("v%d", p.targets)}
	if p.OneIn(3) {
		w.Pool.Spec.Configuration.Image = fmt.Sprintf("image%d", p.IntN(3))
	}
	p.Note("target %v", w.Pool.Spec.Configuration)
}

func (p *play) addNode(w *rollout.World) {
	p.nodes++
	n := rollout.Node{ObjectMeta: rollout.ObjectMeta{
		Name: fmt.Sprintf("n%d", p.nodes), CreationTimestamp: p.Clock.Now(), Labels: map[string]string{},
		Annotations: map[string]string{rollout.AnnotationCurrent: "v0", rollout.AnnotationDesired: "v0", rollout.AnnotationState: rollout.StateDone},
	}}
	if zone := p.IntN(3); zone > 0 {
		n.Labels[rollout.LabelZone] = fmt.Sprintf("zone%d", zone)
	}
	w.Nodes = append(w.Nodes, n)
}

func (p *play) run() error {
	for range 120 {
		p.event()
		if p.wrong != nil {
			return p.wrong
		}
	}
	return p.settle()
}

// event lets one thing happen.
func (p *play) event() {
	switch p.IntN(16) {
	case 0:
		if p.OneIn(4) {
			p.Reach("new target")
			p.edit(p.target)
		}
	case 1:
		p.user()
	case 2:
		p.node()
	case 3, 4, 5:
		p.Pass()
	case 6:
		p.deliver()
	default:
		p.pass(p.IntN(2))
	}
}

// user lets somebody change the pool.
func (p *play) user() {
	p.edit(func(w *rollout.World) {
		switch p.IntN(4) {
		case 0:
			w.Pool.Spec.Paused = !w.Pool.Spec.Paused
			p.Reach("pause")
		case 1:
			w.Pool.Spec.MaxUnavailable = &rollout.IntOrString{Int: 1 + p.IntN(3)}
			p.Reach("budget")
		case 2:
			p.addNode(w)
			p.Reach("node added")
		case 3:
			if len(w.Nodes) > 2 && p.OneIn(3) {
				i := p.IntN(len(w.Nodes))
				w.Nodes = slices.Delete(w.Nodes, i, i+1)
				p.Reach("node removed")
			}
		}
	})
}

// node lets something happen to a node from outside.
func (p *play) node() {
	p.edit(func(w *rollout.World) {
		n := &w.Nodes[p.IntN(len(w.Nodes))]
		switch {
		case p.OneIn(2):
			n.Status.Conditions = nil
			if rollout.Stage(n) == rollout.StageNone {
				n.Spec.Unschedulable = false
			}
		case p.Fault("node crashes", 3):
			n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionUnknown}}
		case rollout.Stage(n) == rollout.StageNone && p.Fault("cordon by hand", 3):
			n.Spec.Unschedulable = true
		}
	})
}

// deliver lets what is on its way arrive, in any order.
func (p *play) deliver() {
	for len(p.late) > 0 && p.OneIn(2) {
		i := p.IntN(len(p.late))
		a := p.late[i]
		p.late = slices.Delete(p.late, i, i+1)
		p.Note("late: %s", a.String())
		if err := p.put(a); err != nil {
			p.Reach("too late")
		}
	}
}

// pass lets one runner look once, and kills it if it crashed.
func (p *play) pass(i int) {
	if !p.two {
		i = 0
	}
	d, err := p.runners[i].Reconcile(p.t.Context(), pool)
	sim.Waited(p.Sim, d.Blocked)
	p.Note("runner %d: %d actions, %d blocks, %v", i, len(d.Actions), len(d.Blocked), err)
	if err == nil {
		p.silent(&d)
	}
	if p.crashed {
		p.crashed = false
		p.runners[i] = p.runner()
	}
}

// silent checks that whoever waits says why, and when it looks again.
func (p *play) silent(d *rollout.Decision) {
	for _, b := range d.Blocked {
		if b.Since.IsZero() || b.Unblock == "" || b.Subject == "" || b.Reason == "" || b.Message == "" {
			p.fail("a block says too little: %+v", b)
		}
	}
	for _, b := range d.State.Begun {
		if !slices.ContainsFunc(d.Blocked, func(x fairlead.Block) bool { return x.Subject == "node "+b.Node }) {
			p.fail("node %s was begun, and nothing says what it waits for", b.Node)
		}
	}
	if len(d.Actions) > 0 && d.Wake.IsZero() {
		p.fail("there are actions, and nobody looks whether they worked")
	}
}

// Observe implements rollout.Backend.
func (p *play) Observe(context.Context, string) (*rollout.World, error) {
	if p.Fault("observe fails", 30) {
		return nil, sim.ErrFault
	}
	w := p.world()
	p.past = append(p.past, p.world())
	if len(p.past) > 6 {
		p.past = p.past[1:]
	}
	if p.Fault("stale", 10) {
		w = p.past[p.IntN(len(p.past))]
	}
	p.other()
	p.same(w)
	return w, nil
}

// same checks that Step leaves its arguments alone and decides twice the same,
// also on state that was stored in between.
func (p *play) same(w *rollout.World) {
	if !p.OneIn(20) {
		return
	}
	before, _ := json.Marshal(w)
	d := rollout.Step(rollout.State{}, w, p.Clock.Now().UTC(), nil)
	text, _ := json.Marshal(d.State)
	var state rollout.State
	if err := json.Unmarshal(text, &state); err != nil || !reflect.DeepEqual(state, d.State) {
		p.fail("state does not survive: %v", err)
	}
	x := rollout.Step(d.State, w, p.Clock.Now().UTC(), nil)
	y := rollout.Step(state, w, p.Clock.Now().UTC(), nil)
	after, _ := json.Marshal(w)
	if !reflect.DeepEqual(x, y) || string(before) != string(after) {
		p.fail("Step is not pure")
	}
}

// other lets the other runner work in the middle of a pass.
func (p *play) other() {
	if !p.two || p.nested || !p.Fault("other runner", 8) {
		return
	}
	p.nested = true
	crashed := p.crashed
	p.crashed = false
	fresh := p.runner()
	for range 1 + p.IntN(6) {
		_, err := fresh.Reconcile(p.t.Context(), pool)
		p.Note("  meanwhile: %v", err)
	}
	p.nested, p.crashed = false, crashed
}

// Apply implements rollout.Backend.
func (p *play) Apply(_ context.Context, _ string, a rollout.Action) error {
	if p.crashed {
		return sim.ErrFault
	}
	if begin, ok := a.(rollout.Begin); ok {
		p.budgets[begin.Node] = max(p.budgets[begin.Node], p.most())
	}
	p.other()
	switch {
	case p.Fault("crash", 20):
		p.crashed = true
		return sim.ErrFault
	case p.Fault("delay", 20):
		p.late = append(p.late, a)
		return sim.ErrFault
	case p.Fault("again", 20):
		p.late = append(p.late, a)
	}
	if err := p.put(a); err != nil {
		return err
	}
	if p.Fault("unconfirmed", 20) {
		return sim.ErrFault
	}
	return nil
}

// most is the largest budget that was to be seen lately.
func (p *play) most() (most int) {
	for _, seen := range append(p.past, p.world()) {
		n, err := rollout.MaxUnavailable(&seen.Pool, len(seen.Nodes))
		if err != nil {
			p.fail("%v", err)
		}
		most = max(most, n)
	}
	return most
}

// put lets an action reach the backend, and checks that no more nodes are down
// than might be when the last of them was chosen.
func (p *play) put(a rollout.Action) error {
	before := down(p.world())
	err := p.backend.Apply(context.Background(), pool, a)
	p.Note("  %s: %v", a.String(), err)
	if err == nil {
		p.Reach(strings.ToLower(strings.Replace(fmt.Sprintf("%T", a), "rollout.", "act: ", 1)))
	}
	w := p.world()
	after, most := down(w), 0
	for _, name := range after {
		most = max(most, p.budgets[name])
	}
	for name := range p.budgets {
		if _, chosen := a.(rollout.Uncordon); chosen && !slices.Contains(after, name) && slices.Contains(before, name) {
			delete(p.budgets, name) // it is through
		}
	}
	if len(after) > len(before) && len(after) > most {
		p.fail("%v are down for the update, %d may be", after, most)
	}
	if len(after) == most && most > 1 {
		p.Reach("full budget")
	}
	for _, n := range w.Nodes {
		if n.Annotations[rollout.AnnotationState] == rollout.StateDegraded {
			p.Reach("degraded")
		}
	}
	return err
}

// down returns the nodes that are on their way.
func down(w *rollout.World) (names []string) {
	for i := range w.Nodes {
		if rollout.Stage(&w.Nodes[i]) != rollout.StageNone {
			names = append(names, w.Nodes[i].Name)
		}
	}
	return names
}

// settle ends all faults, and lets the pool come to rest.
func (p *play) settle() error {
	p.Heal()
	p.healed = true
	for len(p.late) > 0 {
		p.deliver()
	}
	p.edit(func(w *rollout.World) {
		w.Pool.Spec.Paused = false
		for i := range w.Nodes {
			w.Nodes[i].Status.Conditions = nil
			if rollout.Stage(&w.Nodes[i]) == rollout.StageNone {
				w.Nodes[i].Spec.Unschedulable = false
			}
		}
		p.target(w) // nodes that are broken get another try
	})
	var d rollout.Decision
	for range 400 {
		var err error
		if d, err = p.runners[0].Reconcile(p.t.Context(), pool); err != nil {
			p.Note("%v", err)
		}
		if p.wrong != nil {
			return p.wrong
		}
		if len(d.Actions) == 0 && len(d.Blocked) == 0 {
			break
		}
		next := p.Clock.Now().Add(10 * time.Second)
		if at, ok := p.backend.Next(); ok && at.After(next) {
			next = at // the clock was set back meanwhile
		}
		p.Clock.Set(next)
	}
	w := p.world()
	for i := range w.Nodes {
		if n := &w.Nodes[i]; !rollout.Updated(&w.Pool, n) || !rollout.Ready(n) || len(n.Spec.Taints) > 0 {
			return fmt.Errorf("at rest node %s is %v %v %v: %v", n.Name, n.Annotations, n.Spec, rollout.Stage(n), d.Blocked)
		}
	}
	if st := w.Pool.Status; st.ReadyMachineCount != len(w.Nodes) || st.Conditions[0].Status != fairlead.ConditionTrue {
		return fmt.Errorf("at rest the status is %+v", st)
	}
	if len(d.State.Begun)+len(d.State.Waits) > 0 {
		return fmt.Errorf("at rest the state is %+v", d.State)
	}
	return nil
}
