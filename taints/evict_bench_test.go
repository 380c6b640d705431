package taints_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/taints"
)

// BenchmarkEvictAt is the deadline of one pod: three taints, four tolerations.
func BenchmarkEvictAt(b *testing.B) {
	var on []taints.Started
	for _, key := range []string{"a", "b", notReady} {
		on = append(on, taints.Started{Taint: taints.Taint{Key: key, Effect: taints.NoExecute}, Since: start})
	}
	pod := waitingPod(0, "n")
	b.ReportAllocs()
	for b.Loop() {
		if d := taints.EvictAt(&pod, on, nil); !d.Evict() {
			b.Fatal("it stays")
		}
	}
}

// waitingPod tolerates everything of these benchmarks for some minutes.
func waitingPod(i int, node string) taints.Pod {
	seconds := int64(300 + i%100)
	p := taints.Pod{ObjectMeta: taints.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("p%d", i), UID: fmt.Sprintf("u%d", i), CreationTimestamp: start}}
	p.Spec.NodeName = node
	for _, key := range []string{notReady, unreachable, "a", "b"} {
		p.Spec.Tolerations = append(p.Spec.Tolerations, taints.Toleration{Key: key, Operator: taints.Exists, Effect: taints.NoExecute, TolerationSeconds: &seconds})
	}
	return p
}

// crowd is a backend of many nodes with as many pods each, all of which wait. Its
// pods are made once, so that what is measured is the engine.
type crowd struct {
	pods  []taints.Pod
	taint taints.Taint
}

func newCrowd(pods int) *crowd {
	c := &crowd{taint: taints.Taint{Key: unreachable, Effect: taints.NoExecute}}
	for i := range pods {
		c.pods = append(c.pods, waitingPod(i, ""))
	}
	return c
}

func (c *crowd) Observe(_ context.Context, node string) (*taints.World, error) {
	for i := range c.pods {
		c.pods[i].Spec.NodeName = node
	}
	n := &taints.Node{ObjectMeta: taints.ObjectMeta{Name: node, UID: node}}
	n.Spec.Taints = []taints.Taint{c.taint}
	return &taints.World{Name: node, Node: n, Pods: c.pods}, nil
}

func (c *crowd) Apply(context.Context, string, taints.Action) error { return nil }

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
		r, err := taints.NewRunner(backend, nil, &fairlead.RunnerOptions{Clock: clock, Store: store})
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
		backend.taint.Effect = taints.NoSchedule
		b.ReportMetric(round(), "ns/cancel")
		stop()
		runtime.KeepAlive(r)
		runtime.KeepAlive(store)
	}
}

// background runs the runner until stop is called.
func background(b *testing.B, r *taints.Runner) (stop func()) {
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
	var f taints.Fleet
	for i := range 5000 {
		n := taints.Node{ObjectMeta: taints.ObjectMeta{Name: fmt.Sprintf("n%d", i), UID: fmt.Sprint(i), Labels: map[string]string{taints.LabelZone: fmt.Sprint(i % 3)}}}
		status := "True"
		if i%9 < 3 {
			status = "False"
		}
		n.Status.Conditions = []taints.NodeCondition{{Type: "MemoryPressure", Status: "False"}, {Type: "Ready", Status: object.ConditionStatus(status), LastTransitionTime: start.Add(time.Duration(i%777) * time.Second)}}
		f.Nodes = append(f.Nodes, n)
	}
	state := taints.ZoneStep(taints.ZoneState{}, &f, start.Add(time.Hour), nil).State
	b.ReportAllocs()
	for b.Loop() {
		taints.ZoneStep(state, &f, start.Add(time.Hour+time.Second), nil)
	}
}

// BenchmarkWhatIf asks what becomes of 5,000 nodes and 150,000 pods in three
// zones when one of them is dark for 12 minutes.
func BenchmarkWhatIf(b *testing.B) {
	c := new(taints.Cluster)
	controller := true
	for i := range 5000 {
		n := taints.Node{ObjectMeta: taints.ObjectMeta{Name: fmt.Sprintf("n%d", i), UID: fmt.Sprint(i), Labels: map[string]string{taints.LabelZone: string(rune('a' + i%3))}}}
		n.Status.Conditions = []taints.NodeCondition{{Type: "Ready", Status: "True", LastTransitionTime: start}}
		c.Nodes = append(c.Nodes, n)
		for j := range 30 {
			p := waitingPod(i*30+j, n.Name)
			p.OwnerReferences = []object.OwnerReference{{Kind: "ReplicaSet", Controller: &controller}}
			c.Pods = append(c.Pods, p)
		}
	}
	q := &taints.Question{Start: start, Events: []taints.Event{{Zone: "b", Dark: 12 * time.Minute}}}
	var p *taints.Prediction
	for b.Loop() {
		var err error
		if p, err = taints.WhatIf(c, q, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(p.Evicted), "evicted")
}
