package eviction_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
)

// webPod tolerates that its node is unreachable for five minutes, as most pods
// do.
func webPod(node string) fairlead.Pod {
	seconds := int64(300)
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "4d2a"}}
	p.Spec.NodeName = node
	p.Spec.Tolerations = []fairlead.Toleration{
		{Key: taints.KeyUnreachable, Operator: fairlead.TolerationExists, Effect: fairlead.NoExecute, TolerationSeconds: &seconds},
	}
	return p
}

func ExampleEvictAt() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pod := webPod("worker-1")
	on := []eviction.Started{{Taint: fairlead.Taint{Key: taints.KeyUnreachable, Effect: fairlead.NoExecute}, Since: noon}}
	d := eviction.EvictAt(&pod, on, nil)
	fmt.Println(d.At.Format(time.TimeOnly), d.Taint.Key)

	on = append(on, eviction.Started{Taint: fairlead.Taint{Key: "maintenance", Effect: fairlead.NoExecute}, Since: noon.Add(time.Minute)})
	d = eviction.EvictAt(&pod, on, nil)
	fmt.Println(d.At.Format(time.TimeOnly), d.Taint.Key)
	// Output:
	// 12:05:00 node.kubernetes.io/unreachable
	// 12:01:00 maintenance
}

func ExampleStep() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	node := &fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "worker-1", UID: "77c1"}}
	node.Spec.Taints = []fairlead.Taint{{Key: taints.KeyUnreachable, Effect: fairlead.NoExecute, TimeAdded: &noon}}
	world := &eviction.World{Name: "worker-1", Node: node, Pods: []fairlead.Pod{webPod("worker-1")}}

	var state eviction.State
	for _, now := range []time.Time{noon.Add(time.Minute), noon.Add(5 * time.Minute)} {
		d := eviction.Step(state, world, now, nil)
		for _, b := range d.Blocked {
			fmt.Println(b.Reason)
		}
		for _, a := range d.Actions {
			fmt.Println(a.String())
		}
		fmt.Println("again at", d.Wake.Format(time.TimeOnly))
		state = d.State
	}
	// Output:
	// Tolerating
	// again at 12:05:00
	// EvictionPending
	// evict shop/web-0 from worker-1 for node.kubernetes.io/unreachable:NoExecute
	// again at 12:05:01
}

func ExampleRunner() {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	backend := &eviction.MemBackend{Clock: clock}
	node := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: "worker-1", UID: "77c1"}}
	node.Spec.Taints = []fairlead.Taint{{Key: taints.KeyUnreachable, Effect: fairlead.NoExecute}}
	backend.PutNode(node)
	backend.PutPod(webPod("worker-1"))

	runner, err := eviction.NewRunner(backend, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		d, err := runner.Reconcile(context.Background(), "worker-1")
		fmt.Println(clock.Now().Format(time.TimeOnly), len(d.Actions), "actions", err)
		clock.Set(d.Wake)
	}
	pod, _ := backend.Pod("shop", "web-0")
	fmt.Println("terminating:", pod.DeletionTimestamp != nil)
	// Output:
	// 12:00:00 0 actions <nil>
	// 12:05:00 1 actions <nil>
	// terminating: true
}

func ExampleZoneStep() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var fleet eviction.ZoneWorld
	for i := range 6 {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprintf("worker-%d", i), UID: fmt.Sprint(i)}}
		ready := fairlead.NodeCondition{Type: "Ready", Status: "True", LastTransitionTime: noon}
		if i > 3 {
			ready.Status = "Unknown"
		}
		n.Status.Conditions = []fairlead.NodeCondition{ready}
		fleet.Nodes = append(fleet.Nodes, n)
	}
	d := eviction.ZoneStep(eviction.ZoneState{}, &fleet, noon.Add(time.Minute), nil)
	for _, a := range d.Actions {
		fmt.Println(a.String())
	}
	for _, b := range d.Blocked {
		fmt.Println(b.Subject, b.Reason)
	}
	// Output:
	// taints of worker-4 +node.kubernetes.io/unreachable:NoExecute -node.kubernetes.io/not-ready:NoExecute
	// node worker-4 WritePending
	// zone "" RateLimited
}
