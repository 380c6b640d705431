package eviction_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints/eviction"
)

// BenchmarkEvictAt is the deadline of one pod: three taints, four tolerations.
func BenchmarkEvictAt(b *testing.B) {
	var on []eviction.Started
	for _, key := range []string{"a", "b", notReady} {
		on = append(on, eviction.Started{Taint: fairlead.Taint{Key: key, Effect: fairlead.NoExecute}, Since: start})
	}
	pod := waitingPod(0, "n")
	b.ReportAllocs()
	for b.Loop() {
		if d := eviction.EvictAt(&pod, on, nil); !d.Evict() {
			b.Fatal("it stays")
		}
	}
}

// waitingPod tolerates everything of these benchmarks for some minutes.
func waitingPod(i int, node string) fairlead.Pod {
	seconds := int64(300 + i%100)
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("p%d", i), UID: fmt.Sprintf("u%d", i), CreationTimestamp: start}}
	p.Spec.NodeName = node
	for _, key := range []string{notReady, unreachable, "a", "b"} {
		p.Spec.Tolerations = append(p.Spec.Tolerations, fairlead.Toleration{Key: key, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute, TolerationSeconds: &seconds})
	}
	return p
}

// crowd is a backend of many nodes with as many pods each, all of which wait. Its
// pods are made once, so that what is measured is the engine.
type crowd struct {
	pods  []fairlead.Pod
	taint fairlead.Taint
}

func newCrowd(pods int) *crowd {
	c := &crowd{taint: fairlead.Taint{Key: unreachable, Effect: fairlead.NoExecute}}
	for i := range pods {
		c.pods = append(c.pods, waitingPod(i, ""))
	}
	return c
}

func (c *crowd) Observe(_ context.Context, node string) (*eviction.World, error) {
	for i := range c.pods {
		c.pods[i].Spec.NodeName = node
	}
	n := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: node, UID: node}}
	n.Spec.Taints = []fairlead.Taint{c.taint}
	return &eviction.World{Name: node, Node: n, Pods: c.pods}, nil
}

func (c *crowd) Apply(context.Context, string, eviction.Action) error { return nil }

// BenchmarkPending has a Runner wait for 1,000,000 pods on 10,000 nodes. It
// reports what a pending pod takes of memory, all state included, and how long it
// takes until it is taken on (ns/add), given another deadline (ns/retime), and
// not waited for any more (ns/cancel), each for all pods of a node at once, as
// happens when its taints change.
func BenchmarkPending(b *testing.B) {
	const nodes, each = 10_000, 100
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i)
	}
	clock := new(fairlead.ManualClock)
	clock.Set(start.Add(time.Minute))
	for b.Loop() {
		backend := newCrowd(each)
		before := heap()
		store := new(fairlead.MemStore)
		r, err := eviction.NewRunner(backend, nil, &fairlead.RunnerOptions{Clock: clock, Store: store})
		if err != nil {
			b.Fatal(err)
		}
		stop := background(b, r) // so that there are timers
		round := func() float64 {
			begin := time.Now()
			for _, n := range names {
				if _, err := r.Reconcile(b.Context(), n); err != nil {
					b.Fatal(err)
				}
			}
			return float64(time.Since(begin).Nanoseconds()) / nodes / each
		}
		b.ReportMetric(round(), "ns/add")
		b.ReportMetric((heap()-before)/nodes/each, "B/pod")
		added := start.Add(30 * time.Second)
		backend.taint.TimeAdded = &added
		b.ReportMetric(round(), "ns/retime")
		b.ReportMetric((heap()-before)/nodes/each, "B/retimed")
		backend.taint.Effect = fairlead.NoSchedule
		b.ReportMetric(round(), "ns/cancel")
		stop()
		runtime.KeepAlive(r)
		runtime.KeepAlive(store)
	}
}

// background runs the runner until stop is called.
func background(b *testing.B, r *eviction.Runner) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	time.Sleep(10 * time.Millisecond)
	return func() {
		cancel()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkZoneStep is a pass over the zones of 5,000 nodes, a third of which are
// not ready.
func BenchmarkZoneStep(b *testing.B) {
	var f eviction.ZoneWorld
	for i := range 5000 {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("n%d", i), UID: fmt.Sprint(i), Labels: map[string]string{eviction.LabelZone: fmt.Sprint(i % 3)}}}
		status := "True"
		if i%9 < 3 {
			status = "False"
		}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: "MemoryPressure", Status: "False"}, {Type: "Ready", Status: fairlead.ConditionStatus(status), LastTransitionTime: start.Add(time.Duration(i%777) * time.Second)}}
		f.Nodes = append(f.Nodes, n)
	}
	state := eviction.ZoneStep(eviction.ZoneState{}, &f, start.Add(time.Hour), nil).State
	b.ReportAllocs()
	for b.Loop() {
		eviction.ZoneStep(state, &f, start.Add(time.Hour+time.Second), nil)
	}
}
