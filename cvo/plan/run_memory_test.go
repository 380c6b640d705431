package plan_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// TestMemDrain has a plan ask for a node by a request, for which the engine of drains takes
// it out of service on the same cluster; then nothing is left of the plan.
func TestMemDrain(t *testing.T) {
	y := newStage(t)
	drains := &drain.MemBackend{Cluster: y.backend.Cluster}
	runner, err := drain.NewRunner(drains, nil, &fairlead.RunnerOptions{Clock: y.clock})
	if err != nil {
		t.Fatal(err)
	}
	for range 60 {
		y.cluster()
		y.clock.Set(y.clock.Now().Add(10 * time.Second))
	}
	y.goal, y.policy.GoUnseen = plan.Goal{Nodes: []string{"worker-0"}}, true
	for range 100 {
		if _, err := runner.Reconcile(t.Context(), "worker-0"); err != nil {
			t.Log(err) // a budget refuses
		}
		d := y.round()
		if r := drains.Requests("worker-0"); len(r) > 0 && r[0].Status.Phase == drain.PhaseDrained && len(d.State.Steps)+len(d.Blocked) == 0 {
			break
		}
	}
	w, err := drains.Observe(t.Context(), "worker-0")
	if err != nil || len(w.Requests) != 1 || w.Requests[0].Status.Phase != drain.PhaseDrained || !w.Node.Spec.Unschedulable || len(w.Pods) > 0 {
		t.Errorf("the node is not out of service: %+v, %v", w.Requests, err)
	}
	if len(y.saved.Steps) > 0 {
		t.Errorf("left of the plan: %v", y.saved.Steps)
	}
}

// TestMemPause has a plan pause a pool that cvo/rollout sees, and refuses what nobody
// carries out.
func TestMemPause(t *testing.T) {
	y := newStage(t)
	for _, is := range []bool{true, false} {
		if err := y.backend.Apply(t.Context(), "version", plan.SetPaused{Pool: rollout.PoolWorker, Paused: is}); err != nil || y.pools.World(rollout.PoolWorker).Pool.Spec.Paused != is {
			t.Errorf("paused: %v is not seen: %v", is, err)
		}
	}
	if err := y.backend.Apply(t.Context(), "version", plan.SetRelease{Release: "9.9.9"}); err == nil {
		t.Error("a release that nobody has is asked for")
	}
	y.backend.Others = nil
	if err := y.backend.Apply(t.Context(), "version", plan.Acknowledged{Gate: "g"}); err == nil {
		t.Error("a gate is acknowledged by nobody")
	}
}
