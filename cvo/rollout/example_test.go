package rollout_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// workers is a pool of three nodes, of which two are in zones.
func workers() *rollout.World {
	w := &rollout.World{Pool: rollout.Pool{ObjectMeta: rollout.ObjectMeta{Name: "worker"}}}
	w.Pool.Spec.Configuration.Name = "rendered-worker-2"
	for _, n := range []struct{ name, zone string }{{"a", ""}, {"b", "west"}, {"c", "east"}} {
		node := rollout.Node{ObjectMeta: rollout.ObjectMeta{
			Name: n.name, Labels: map[string]string{rollout.LabelZone: n.zone},
			Annotations: map[string]string{
				rollout.AnnotationCurrent: "rendered-worker-1", rollout.AnnotationDesired: "rendered-worker-1",
				rollout.AnnotationState: rollout.StateDone,
			},
		}}
		w.Nodes = append(w.Nodes, node)
	}
	return w
}

// Which nodes may be begun now, and which wait.
func ExampleChoose() {
	w := workers()
	w.Pool.Spec.MaxUnavailable = &rollout.IntOrString{Text: "70%"}
	c, err := rollout.Choose(w, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.MaxUnavailable, "may be down:", c.Candidates, "then", c.Waiting)

	// Output:
	// 2 may be down: [c b] then [a]
}

// A whole rollout, in virtual time: each node drains for a minute and changes
// for three.
func ExampleRunner() {
	ctx, clock := context.Background(), new(fairlead.ManualClock)
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock.Set(start)
	backend := &rollout.MemBackend{
		Clock:      clock,
		DrainTime:  func(string) time.Duration { return time.Minute },
		UpdateTime: func(_, _ string) (time.Duration, error) { return 3 * time.Minute, nil },
		Changed: func(_ string, a rollout.Action) {
			switch a := a.(type) {
			case rollout.Cordon:
				fmt.Println(clock.Now().Sub(start), "cordon", a.Node)
			case rollout.Uncordon:
				fmt.Println(clock.Now().Sub(start), "uncordon", a.Node)
			}
		},
	}
	if err := backend.Edit("worker", func(w *rollout.World) error { *w = *workers(); return nil }); err != nil {
		fmt.Println(err)
		return
	}
	runner, err := rollout.NewRunner(backend, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		d, err := runner.Reconcile(ctx, "worker")
		if err != nil {
			fmt.Println(err)
			return
		}
		if len(d.Actions) > 0 {
			continue // look again at what they did
		}
		at, ok := backend.Next()
		if !ok {
			break
		}
		clock.Set(at)
	}
	status := backend.World("worker").Pool.Status
	fmt.Println(status.UpdatedMachineCount, "updated,", status.ReadyMachineCount, "ready")

	// Output:
	// 0s cordon c
	// 4m0s uncordon c
	// 4m0s cordon b
	// 8m0s uncordon b
	// 8m0s cordon a
	// 12m0s uncordon a
	// 3 updated, 3 ready
}
