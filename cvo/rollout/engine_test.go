package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/long"
)

// nodePool is a pool in memory, and those who change it.
type nodePool struct {
	*rand.Rand
	*rollout.MemBackend
	clock          *fairlead.ManualClock
	lately         map[int]time.Time    // budgets, and when each was last in force
	budgets        map[string]int       // by node: the largest budget that it was chosen with
	others         map[string]time.Time // by node: when somebody else started it
	targets, nodes int
	healed         bool
	seen           map[string]int // what was done, by kind, and what came of it
	begun          int            // how many nodes the engine remembers
	waits          int            // how many waits it remembers
	wrong          error
}

func openPool(r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *nodePool {
	p := &nodePool{Rand: r, clock: clock, lately: map[int]time.Time{}, budgets: map[string]int{}, others: map[string]time.Time{}, seen: seen}
	slow := func(string) time.Duration { return time.Duration(r.IntN(20)) * time.Second }
	p.MemBackend = &rollout.MemBackend{Clock: clock, DrainTime: slow, UpdateTime: func(node, _ string) (time.Duration, error) {
		if !p.healed && r.IntN(8) == 0 {
			return slow(node), errors.New("out of luck")
		}
		return slow(node), nil
	}}
	p.edit(func(w *rollout.World) {
		p.target(w)
		for range 2 + r.IntN(4) {
			p.addNode(w)
		}
	})
	return p
}

func (p *nodePool) edit(f func(w *rollout.World)) {
	_ = p.Edit(pool, func(w *rollout.World) error { f(w); return nil })
}

func (p *nodePool) target(w *rollout.World) {
	p.targets++
	w.Pool.Spec.Configuration = rollout.Configuration{Name: fmt.Sprint("v", p.targets)}
	if p.IntN(3) == 0 {
		w.Pool.Spec.Configuration.Image = fmt.Sprint("image", p.IntN(3))
	}
}

func (p *nodePool) addNode(w *rollout.World) {
	p.nodes++
	w.Nodes = append(w.Nodes, rollout.Node{ObjectMeta: rollout.ObjectMeta{
		Name: fmt.Sprint("n", p.nodes), CreationTimestamp: p.clock.Now(),
		Annotations: map[string]string{rollout.AnnotationCurrent: "v0", rollout.AnnotationDesired: "v0", rollout.AnnotationState: rollout.StateDone},
		Labels:      map[string]string{rollout.LabelZone: []string{"", "zone1", "zone2"}[p.IntN(3)]},
	}})
}

// fail notes what is wrong.
func (p *nodePool) fail(format string, args ...any) {
	if p.wrong == nil {
		p.wrong = fmt.Errorf(format, args...)
	}
}

// most returns the largest budget that was in force lately: an action may have been
// decided on by a world that is a minute old, and arrive a minute later.
func (p *nodePool) most() (most int) {
	w, now := p.World(pool), p.clock.Now()
	n, err := rollout.MaxUnavailable(&w.Pool, len(w.Nodes))
	if err != nil {
		p.fail("%v", err)
	}
	p.lately[n] = now
	for n, at := range p.lately {
		if at.After(now) || now.Sub(at) <= 2*time.Minute {
			most = max(most, n)
		}
	}
	return most
}

// Apply implements rollout.Backend. It checks that no more nodes are down than might be
// when the last of them was chosen.
func (p *nodePool) Apply(ctx context.Context, name string, a rollout.Action) error {
	if begin, ok := a.(rollout.Begin); ok {
		p.budgets[begin.Node] = max(p.budgets[begin.Node], p.most())
	}
	before := down(p.World(pool))
	err := p.MemBackend.Apply(ctx, name, a)
	if err != nil {
		p.seen["refused"]++
		return err
	}
	p.seen[a.Key().Kind]++
	w, most := p.World(pool), 0
	after := down(w)
	for _, name := range after {
		most = max(most, p.budgets[name])
	}
	late := 0 // how many were started by others so late that this was decided on before
	for _, name := range after {
		if at, is := p.others[name]; is && p.clock.Now().Sub(at) <= 2*time.Minute {
			late++
		}
	}
	if a, is := a.(rollout.Uncordon); is && !slices.Contains(after, a.Node) {
		delete(p.budgets, a.Node) // it is through
	}
	switch {
	case len(after) > len(before) && len(after)-late > most:
		p.fail("%v are down for the update, %d may be", after, most)
	case len(after) == most && most > 1:
		p.seen["full budget"]++
	}
	if slices.ContainsFunc(w.Nodes, func(n rollout.Node) bool { return n.Annotations[rollout.AnnotationState] == rollout.StateDegraded }) {
		p.seen["degraded"]++
	}
	return nil
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

// decided checks that whoever waits says why, and when it looks again.
func (p *nodePool) decided(d *rollout.Decision) {
	p.begun, p.waits = len(d.State.Begun), len(d.State.Waits)
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

// Change implements fairlead.Trial.
func (p *nodePool) Change() {
	p.most()
	p.edit(func(w *rollout.World) {
		n := &w.Nodes[p.IntN(len(w.Nodes))]
		switch p.IntN(9) {
		case 0:
			if p.IntN(4) == 0 {
				p.target(w)
			}
		case 1:
			w.Pool.Spec.Paused = !w.Pool.Spec.Paused
		case 2:
			w.Pool.Spec.MaxUnavailable = &rollout.IntOrString{Int: 1 + p.IntN(3)}
		case 3:
			if len(w.Nodes) < 8 {
				p.addNode(w)
			}
		case 4:
			if len(w.Nodes) > 2 && p.IntN(3) == 0 {
				i := p.IntN(len(w.Nodes))
				w.Nodes = slices.Delete(w.Nodes, i, i+1)
			}
		case 5:
			n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionUnknown}}
		case 6:
			n.Status.Conditions = nil
		case 7:
			if rollout.Stage(n) == rollout.StageNone {
				n.Spec.Unschedulable = !n.Spec.Unschedulable
			}
		case 8:
			if rollout.Stage(n) == rollout.StageNone && rollout.Ready(n) && p.IntN(3) == 0 {
				p.seen["started by others"]++
				p.others[n.Name], n.Annotations[rollout.AnnotationDesired] = p.clock.Now(), "other"
			}
		}
	})
}

// Check implements fairlead.Trial.
func (p *nodePool) Check() error { return p.wrong }

// Heal implements fairlead.Healer. Nobody holds a node in the end, and all work.
func (p *nodePool) Heal(string) {
	p.healed = true
	p.edit(func(w *rollout.World) {
		w.Pool.Spec.Paused = false
		broken := false
		for i := range w.Nodes {
			n := &w.Nodes[i]
			n.Status.Conditions = nil
			broken = broken || n.Annotations[rollout.AnnotationState] == rollout.StateDegraded
			if rollout.Stage(n) == rollout.StageNone {
				n.Spec.Unschedulable = false
			}
		}
		if broken {
			p.target(w) // it gets another try
		}
	})
}

// Settled implements fairlead.Trial.
func (p *nodePool) Settled(string) error {
	w := p.World(pool)
	for i := range w.Nodes {
		if n := &w.Nodes[i]; !rollout.Updated(&w.Pool, n) || !rollout.Ready(n) || len(n.Spec.Taints) > 0 {
			return fmt.Errorf("node %s is %v %v %v", n.Name, n.Annotations, n.Spec, rollout.Stage(n))
		}
	}
	if st := w.Pool.Status; st.ReadyMachineCount != len(w.Nodes) || st.Conditions[0].Status != fairlead.ConditionTrue {
		return fmt.Errorf("the status is %+v", st)
	}
	if p.begun+p.waits > 0 {
		return fmt.Errorf("%d nodes are remembered as begun, and %d waits", p.begun, p.waits)
	}
	return nil
}

// TestEngine rolls configurations out with faults of all kinds.
func TestEngine(t *testing.T) {
	seen := map[string]int{}
	var at *nodePool
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*rollout.World, rollout.Action] {
		at = openPool(r, clock, seen)
		return at
	}
	engine, err := rollout.NewEngine(new(rollout.MemBackend), nil)
	if err != nil {
		t.Fatal(err)
	}
	step := engine.Step
	engine.Step = func(state rollout.State, w *rollout.World, now time.Time) rollout.Decision {
		d := step(state, w, now)
		at.decided(&d)
		return d
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(150, 10_000), Names: []string{pool}}); err != nil {
		t.Fatal(err)
	}
	t.Log(seen)
	for _, kind := range strings.Fields("Begin Mark Cordon Drain Update Uncordon Report degraded refused") {
		if seen[kind] == 0 {
			t.Errorf("there was no %s", kind)
		}
	}
	if seen["started by others"] == 0 {
		t.Error("nobody else started a node")
	}
	if seen["full budget"] == 0 {
		t.Error("no larger budget was ever used up")
	}
}
