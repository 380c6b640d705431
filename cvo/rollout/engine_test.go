package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/sim"
)

// nodePool is a pool in memory, and those who change it.
type nodePool struct {
	*rand.Rand
	*rollout.MemBackend
	clock          *fairlead.ManualClock
	budget         int // the most nodes that may be down, at any time of the run
	targets, nodes int
	healed         bool
	seen           map[string]int // what was done, by kind
}

func openPool(r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *nodePool {
	p := &nodePool{Rand: r, clock: clock, budget: 1, seen: seen}
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
}

func (p *nodePool) addNode(w *rollout.World) {
	p.nodes++
	w.Nodes = append(w.Nodes, rollout.Node{ObjectMeta: rollout.ObjectMeta{
		Name: fmt.Sprint("n", p.nodes), CreationTimestamp: p.clock.Now(),
		Annotations: map[string]string{rollout.AnnotationCurrent: "v0", rollout.AnnotationDesired: "v0", rollout.AnnotationState: rollout.StateDone},
	}})
}

// Apply implements rollout.Backend.
func (p *nodePool) Apply(ctx context.Context, name string, a rollout.Action) error {
	err := p.MemBackend.Apply(ctx, name, a)
	if err == nil {
		p.seen[a.Key().Kind]++
	}
	return err
}

// Change implements fairlead.Trial.
func (p *nodePool) Change() {
	p.edit(func(w *rollout.World) {
		n := &w.Nodes[p.IntN(len(w.Nodes))]
		switch p.IntN(8) {
		case 0:
			if p.IntN(4) == 0 {
				p.target(w)
			}
		case 1:
			w.Pool.Spec.Paused = !w.Pool.Spec.Paused
		case 2:
			w.Pool.Spec.MaxUnavailable = &rollout.IntOrString{Int: 1 + p.IntN(3)}
			p.budget = max(p.budget, w.Pool.Spec.MaxUnavailable.Int)
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
		}
	})
}

// Check implements fairlead.Trial.
func (p *nodePool) Check() error {
	if names := down(p.World(pool)); len(names) > p.budget {
		return fmt.Errorf("%v are down for the update, %d may be", names, p.budget)
	}
	return nil
}

// Settled implements fairlead.Trial. Nobody holds a node in the end, and all work.
func (p *nodePool) Settled(string) error {
	if !p.healed {
		p.healed = true
		p.edit(func(w *rollout.World) {
			w.Pool.Spec.Paused = false
			p.target(w) // nodes that are broken get another try
			for i := range w.Nodes {
				w.Nodes[i].Status.Conditions = nil
				if rollout.Stage(&w.Nodes[i]) == rollout.StageNone {
					w.Nodes[i].Spec.Unschedulable = false
				}
			}
		})
	}
	w := p.World(pool)
	for i := range w.Nodes {
		if n := &w.Nodes[i]; !rollout.Updated(&w.Pool, n) || !rollout.Ready(n) || len(n.Spec.Taints) > 0 {
			return fmt.Errorf("node %s is %v %v %v", n.Name, n.Annotations, n.Spec, rollout.Stage(n))
		}
	}
	return nil
}

// TestEngine rolls configurations out with faults of all kinds.
func TestEngine(t *testing.T) {
	seen := map[string]int{}
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*rollout.World, rollout.Action] {
		return openPool(r, clock, seen)
	}
	engine, err := rollout.NewEngine(new(rollout.MemBackend), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(60, 10_000), Names: []string{pool}}); err != nil {
		t.Fatal(err)
	}
	t.Log(seen)
	sim.Reached(t, seen, "Begin", "Cordon", "Drain", "Update", "Uncordon", "Report")
}
