package rollout_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// TestArbiters is TestArbiterPoolCoordination over a whole rollout: two nodes of
// the control plane and an arbiter go to another configuration, and at no time is
// more than one of the three down.
func TestArbiters(t *testing.T) {
	clock := new(fairlead.ManualClock)
	clock.Set(start)
	takes := func(string) time.Duration { return time.Minute }
	b := &rollout.MemBackend{Clock: clock, DrainTime: takes, UpdateTime: func(string, string) (time.Duration, error) { return time.Minute, nil }}
	nodes := map[string][]string{rollout.PoolMaster: {"m0", "m1"}, rollout.PoolArbiter: {"a0"}}
	target := func(pool, name string) {
		if err := b.Edit(pool, func(w *rollout.World) error { w.Pool.Spec.Configuration.Name = name; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for pool, names := range nodes {
		if err := b.Edit(pool, func(w *rollout.World) error {
			for _, name := range names {
				w.Nodes = append(w.Nodes, rollout.Node{ObjectMeta: rollout.ObjectMeta{Name: name, Annotations: map[string]string{
					rollout.AnnotationCurrent: "v0", rollout.AnnotationDesired: "v0", rollout.AnnotationState: rollout.StateDone,
				}}})
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	target(rollout.PoolMaster, "v1")
	target(rollout.PoolArbiter, "v1")
	runner := newRunner(t, b, nil, &fairlead.RunnerOptions{Clock: clock})
	blocked, arbiterFirst := false, false
	for range 60 {
		for _, pool := range []string{rollout.PoolArbiter, rollout.PoolMaster} {
			for range 8 {
				d, err := runner.Reconcile(context.Background(), pool)
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range d.Blocked {
					blocked = blocked || x.Reason == rollout.ReasonPeers
				}
				if len(d.Actions) == 0 {
					break
				}
			}
		}
		var down []string
		old := 0
		for _, pool := range []string{rollout.PoolMaster, rollout.PoolArbiter} {
			w := b.World(pool)
			for i := range w.Nodes {
				if rollout.Unavailable(&w.Nodes[i]) {
					down = append(down, w.Nodes[i].Name)
				}
				if pool == rollout.PoolMaster && !rollout.Updated(&w.Pool, &w.Nodes[i]) {
					old++
				}
				arbiterFirst = arbiterFirst || pool == rollout.PoolArbiter && old > 0 && w.Nodes[i].Annotations[rollout.AnnotationDesired] == "v1"
			}
		}
		if len(down) > 1 {
			t.Fatalf("down at once: %v", down)
		}
		clock.Set(clock.Now().Add(30 * time.Second))
	}
	for pool := range nodes {
		if c := fairlead.FindCondition(b.World(pool).Pool.Status.Conditions, rollout.ConditionUpdated); c == nil || c.Status != fairlead.ConditionTrue {
			t.Errorf("%s is not updated: %+v", pool, c)
		}
	}
	if !blocked || arbiterFirst {
		t.Errorf("told that arbiters wait: %v; the arbiter went first: %v", blocked, arbiterFirst)
	}
	w := b.World(rollout.PoolMaster)
	if s := rollout.Status(w, clock.Now()); s.Configuration.Name != "v1" {
		t.Errorf("the pool runs %q", s.Configuration.Name)
	}
	target(rollout.PoolMaster, "v2")
	if s := rollout.Status(b.World(rollout.PoolMaster), clock.Now()); s.Configuration.Name != "v1" {
		t.Errorf("before the next one is there: %q", s.Configuration.Name)
	}
}
