package cvo_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
)

// large is a release of 910 tasks, as many as a real one has, with 32 operators
// on eight runlevels.
func large(tb testing.TB, version string) *payload.Payload {
	var parts []part
	for i := range 32 {
		objects := 26
		if i < 14 {
			objects = 27
		}
		parts = append(parts, part{runlevel: 10 * (1 + i/4), component: fmt.Sprintf("c%02d", i), objects: objects, operator: true})
	}
	p := release(tb, version, parts, nil)
	if n := len(p.Select(payload.NewFilter()).Tasks); n != 910 {
		tb.Fatalf("the release has %d tasks, and 910 were meant", n)
	}
	return p
}

// largeCluster is a cluster that is installed with the first of two releases.
func largeCluster(tb testing.TB, one, two *payload.Payload) (*fairlead.ManualClock, *cvo.MemBackend, *cvo.Runner) {
	clock := new(fairlead.ManualClock)
	clock.Set(begin)
	b := cvo.NewMemBackend(clock)
	b.SetRelease(imageOne, one, true, 0)
	b.SetRelease(imageTwo, two, true, time.Minute)
	b.SetCluster("east", cvo.Spec{}, cvo.Release{Version: "4.18.0", Image: imageOne})
	r := newRunner(tb, b, nil, &fairlead.RunnerOptions{Clock: clock})
	reach(tb, clock, b, r, imageOne)
	return clock, b, r
}

// reach drives a cluster until it is at a release, and returns the last
// decision and how many there were.
func reach(tb testing.TB, clock *fairlead.ManualClock, b *cvo.MemBackend, r *cvo.Runner, image string) (last cvo.Decision, steps int) {
	tb.Helper()
	for steps := range 10_000 {
		d, err := r.Reconcile(context.Background(), "east")
		if err != nil {
			tb.Fatal(err)
		}
		if len(d.Actions) > 0 {
			continue
		}
		if h := b.Version("east").Status.History; len(h) > 0 && h[0].Image == image && h[0].State == cvo.Completed {
			return d, steps
		}
		clock.Set(earliest(d.Wake, b.Next("east")))
	}
	tb.Fatalf("the cluster does not come to %s", image)
	return cvo.Decision{}, 0
}

// BenchmarkStep is one decision about a cluster of 910 tasks.
func BenchmarkStep(b *testing.B) {
	b.Run("at rest", func(b *testing.B) {
		clock, backend, r := largeCluster(b, large(b, "4.18.0"), large(b, "4.19.0"))
		d, _ := reach(b, clock, backend, r, imageOne)
		step(b, clock, backend, d.State)
	})
	b.Run("waiting for an operator", func(b *testing.B) {
		clock, backend, r := largeCluster(b, large(b, "4.18.0"), large(b, "4.19.0"))
		backend.Operators["c20"] = time.Hour
		d := update(b, clock, backend, r, func(d *cvo.Decision) bool {
			return len(d.Blocked) > 0 && len(d.Actions) == 0 && waitsFor(d.State) == 1
		})
		step(b, clock, backend, d.State)
	})
}

// update drives an update until a decision is as wanted.
func update(tb testing.TB, clock *fairlead.ManualClock, backend *cvo.MemBackend, r *cvo.Runner, wanted func(*cvo.Decision) bool) cvo.Decision {
	tb.Helper()
	backend.SetCluster("east", cvo.Spec{DesiredUpdate: &cvo.Update{Image: imageTwo, Version: "4.19.0"}}, cvo.Release{Version: "4.18.0", Image: imageOne})
	for range 10_000 {
		d, err := r.Reconcile(context.Background(), "east")
		if err != nil {
			tb.Fatal(err)
		}
		if wanted(&d) {
			return d
		}
		if len(d.Actions) == 0 {
			clock.Set(earliest(d.Wake, backend.Next("east")))
		}
	}
	tb.Fatal("it does not come to that")
	return cvo.Decision{}
}

// step measures decisions in which nothing has changed. It prepares the payload
// again each time, as a bare Step does; a Runner keeps that.
func step(b *testing.B, clock *fairlead.ManualClock, backend *cvo.MemBackend, state cvo.State) {
	w, err := backend.Observe(context.Background(), "east")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		cvo.Step(state, w, clock.Now(), nil)
	}
}

// BenchmarkReconcile is one pass of a Runner in which nothing has changed: it
// keeps the payload prepared, looks, decides, and saves nothing.
func BenchmarkReconcile(b *testing.B) {
	clock, backend, r := largeCluster(b, large(b, "4.18.0"), large(b, "4.19.0"))
	backend.Operators["c20"] = time.Hour
	update(b, clock, backend, r, func(d *cvo.Decision) bool {
		return len(d.Blocked) > 0 && len(d.Actions) == 0 && waitsFor(d.State) == 1
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Reconcile(context.Background(), "east"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdate is a whole update of 910 tasks in memory, from the request
// to the history's Completed.
func BenchmarkUpdate(b *testing.B) {
	b.ReportAllocs()
	one, two := large(b, "4.18.0"), large(b, "4.19.0")
	steps := 0
	for b.Loop() {
		b.StopTimer()
		clock, backend, r := largeCluster(b, one, two)
		backend.SetCluster("east", cvo.Spec{DesiredUpdate: &cvo.Update{Image: imageTwo, Version: "4.19.0"}}, cvo.Release{Version: "4.18.0", Image: imageOne})
		b.StartTimer()
		_, n := reach(b, clock, backend, r, imageTwo)
		steps += n
	}
	b.ReportMetric(float64(steps)/float64(b.N), "passes/op")
}

// BenchmarkInspect judges a cluster of 5,000 nodes of which none is ready, and of
// which 35 operators report another one each.
func BenchmarkInspect(b *testing.B) {
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d := &cvo.Dump{}
	for i := range 35 {
		o := cvo.ClusterOperator{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprint("operator-", i)}}
		o.Status.Conditions = []cvo.Condition{{Type: "Degraded", Status: cvo.True, LastTransitionTime: since, Message: fmt.Sprintf("node \"worker-%d\" is not ready", i)}}
		d.Operators = append(d.Operators, o)
	}
	for i := range 5000 {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprint("worker-", i)}}
		n.Status.Conditions = []fairlead.NodeCondition{
			{Type: "Ready", Status: "Unknown", Message: "Kubelet stopped posting node status.", LastTransitionTime: since},
			{Type: "MemoryPressure", Status: "True", Message: fmt.Sprint(i, " MB are left"), LastTransitionTime: since},
		}
		d.Nodes = append(d.Nodes, n)
	}
	for b.Loop() {
		cvo.Inspect(d, since.Add(time.Hour))
	}
}
