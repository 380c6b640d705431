package plan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
)

// county is a small cluster that a plan leads to its goal: the engine makes requests, and
// everybody else carries them out, sooner or later.
type county struct {
	*rand.Rand
	*scene
	clock  *fairlead.ManualClock
	policy *plan.Policy
	last   plan.Decision
	seen   map[string]int // what was done, by kind
	wrong  error
}

// openCounty returns a cluster for which there is a plan.
func openCounty(r *rand.Rand, clock *fairlead.ManualClock, seen map[string]int) *county {
	for {
		x, policy := newScene(draw(r))
		if p, err := plan.Make(context.Background(), &x.w.Situation, &x.w.Goal, policy); err == nil && len(p.Steps) > 1 {
			return &county{Rand: r, scene: x, clock: clock, policy: policy, seen: seen}
		}
	}
}

// Observe implements fairlead.Backend.
func (c *county) Observe(context.Context, string) (*plan.World, error) {
	text, err := json.Marshal(c.w)
	if err != nil {
		return nil, err
	}
	w := new(plan.World)
	return w, json.Unmarshal(text, w)
}

// Apply implements fairlead.Backend. A request that was made before changes nothing.
func (c *county) Apply(_ context.Context, _ string, a plan.Action) error {
	c.now = c.clock.Now()
	if move, is := a.(plan.SetRelease); is {
		h := c.w.Situation.Cluster.Status.History
		if slices.ContainsFunc(h, func(x cvo.History) bool { return x.Version == move.Release }) {
			return nil
		}
		if h[0].State == cvo.Partial {
			c.wrong = fmt.Errorf("release %s is requested during the update to %s", move.Release, h[0].Version)
		}
	}
	c.seen[a.Key().Kind]++
	c.do(a)
	return nil
}

// Change implements fairlead.Trial: others do what the engine waits for, or pause the
// plan.
func (c *county) Change() {
	if c.IntN(4) == 0 {
		c.w.Paused = !c.w.Paused
		return
	}
	c.progress()
}

// progress lets others do what was decided last to wait for.
func (c *county) progress() {
	c.now = c.clock.Now()
	c.others(&c.last)
	c.last.Blocked = nil // they do it once
}

// Check implements fairlead.Trial.
func (c *county) Check() error { return c.wrong }

// Heal implements fairlead.Healer.
func (c *county) Heal(string) {
	c.w.Paused = false
	c.progress()
}

// Settled implements fairlead.Trial: nothing is left of the best plan.
func (c *county) Settled(string) error {
	p, err := plan.Make(context.Background(), &c.w.Situation, &c.w.Goal, c.policy)
	if err == nil && len(p.Steps) > 0 {
		err = fmt.Errorf("left to do: %v", p.Steps[0])
	}
	return err
}

// TestEngine leads clusters to their goals with faults of all kinds.
func TestEngine(t *testing.T) {
	seen := map[string]int{}
	var c *county
	open := func(r *rand.Rand, clock *fairlead.ManualClock) fairlead.Trial[*plan.World, plan.Action] {
		c = openCounty(r, clock, seen)
		return c
	}
	engine, err := plan.NewEngine(&plan.MemBackend{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	engine.Step = func(s plan.State, w *plan.World, now time.Time) plan.Decision { // with the policy of the cluster
		c.last = plan.Step(s, w, now, c.policy)
		return c.last
	}
	if err := fairlead.CheckEngine(t.Context(), engine, open, &fairlead.TrialOptions{Runs: long.N(15, 2000), Moves: 40}); err != nil {
		t.Fatal(err)
	}
	if t.Log(seen); seen["SetRelease"] == 0 || seen["SetPaused"] == 0 {
		t.Errorf("was anything done? %v", seen)
	}
}
