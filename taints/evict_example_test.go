package taints_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

// webPod tolerates that its node is unreachable for five minutes, as most pods
// do.
func webPod(node string) taints.Pod {
	seconds := int64(300)
	p := taints.Pod{ObjectMeta: taints.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "4d2a"}}
	p.Spec.NodeName = node
	p.Spec.Tolerations = []taints.Toleration{
		{Key: taints.KeyUnreachable, Operator: taints.Exists, Effect: taints.NoExecute, TolerationSeconds: &seconds},
	}
	return p
}

func ExampleEvictAt() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pod := webPod("worker-1")
	on := []taints.Started{{Taint: taints.Taint{Key: taints.KeyUnreachable, Effect: taints.NoExecute}, Since: noon}}
	d := taints.EvictAt(&pod, on, nil)
	fmt.Println(d.At.Format(time.TimeOnly), d.Taint.Key)

	on = append(on, taints.Started{Taint: taints.Taint{Key: "maintenance", Effect: taints.NoExecute}, Since: noon.Add(time.Minute)})
	d = taints.EvictAt(&pod, on, nil)
	fmt.Println(d.At.Format(time.TimeOnly), d.Taint.Key)
	// Output:
	// 12:05:00 node.kubernetes.io/unreachable
	// 12:01:00 maintenance
}

func ExampleStep() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	node := &taints.Node{ObjectMeta: taints.ObjectMeta{Name: "worker-1", UID: "77c1"}}
	node.Spec.Taints = []taints.Taint{{Key: taints.KeyUnreachable, Effect: taints.NoExecute, TimeAdded: &noon}}
	world := &taints.World{Name: "worker-1", Node: node, Pods: []taints.Pod{webPod("worker-1")}}

	var state taints.State
	for _, now := range []time.Time{noon.Add(time.Minute), noon.Add(5 * time.Minute)} {
		d := taints.Step(state, world, now, nil)
		for _, b := range d.Blocked {
			fmt.Println(b.Reason)
		}
		for _, a := range d.Actions {
			fmt.Println(taints.Key(a))
		}
		fmt.Println("again at", d.Wake.Format(time.TimeOnly))
		state = d.State
	}
	// Output:
	// Tolerating
	// again at 12:05:00
	// EvictionPending
	// evict shop/web-0 4d2a
	// again at 12:05:01
}

func ExampleRunner() {
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	backend := &taints.MemBackend{Clock: clock}
	node := taints.Node{ObjectMeta: taints.ObjectMeta{Name: "worker-1", UID: "77c1"}}
	node.Spec.Taints = []taints.Taint{{Key: taints.KeyUnreachable, Effect: taints.NoExecute}}
	backend.PutNode(node)
	backend.PutPod(webPod("worker-1"))

	runner, err := taints.NewRunner(backend, nil, &fairlead.RunnerOptions{Clock: clock})
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
	var fleet taints.Fleet
	for i := range 6 {
		n := taints.Node{ObjectMeta: taints.ObjectMeta{Name: fmt.Sprintf("worker-%d", i), UID: fmt.Sprint(i)}}
		ready := taints.NodeCondition{Type: "Ready", Status: "True", LastTransitionTime: noon}
		if i > 3 {
			ready.Status = "Unknown"
		}
		n.Status.Conditions = []taints.NodeCondition{ready}
		fleet.Nodes = append(fleet.Nodes, n)
	}
	d := taints.ZoneStep(taints.ZoneState{}, &fleet, noon.Add(time.Minute), nil)
	for _, a := range d.Actions {
		fmt.Println(taints.Key(a))
	}
	for _, b := range d.Blocked {
		fmt.Println(b.Subject, b.Reason)
	}
	// Output:
	// taints of worker-4 +node.kubernetes.io/unreachable=:NoExecute -node.kubernetes.io/not-ready:NoExecute
	// node worker-4 WritePending
	// zone "" RateLimited
}

func ExampleWhatIf() {
	cluster := new(taints.Cluster)
	for _, zone := range []string{"a", "b"} {
		n := taints.Node{ObjectMeta: taints.ObjectMeta{Name: "worker-" + zone, Labels: map[string]string{taints.LabelZone: zone}}}
		n.Status.Conditions = []taints.NodeCondition{{Type: "Ready", Status: "True"}}
		cluster.Nodes = append(cluster.Nodes, n)
	}
	cluster.Pods = []taints.Pod{webPod("worker-b")}
	p, err := taints.WhatIf(cluster, &taints.Question{
		Start:  time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Events: []taints.Event{{Zone: "b", Dark: 12 * time.Minute}},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := p.WriteText(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	//             2026-03-01T12:00:00Z
	//        +0s  zone b (1 node): dark for 12m0s
	//       +50s  node worker-b Ready is Unknown
	//       +50s  node worker-b + node.kubernetes.io/unreachable:NoSchedule
	//       +50s  zone "/b": FullDisruption
	//       +50s  node worker-b + node.kubernetes.io/unreachable:NoExecute
	//     +5m50s  evict shop/web-0 from worker-b for node.kubernetes.io/unreachable:NoExecute, tolerated for 300 s; nobody makes it anew
	//     +12m0s  node worker-b Ready is True
	//     +12m0s  node worker-b - node.kubernetes.io/unreachable:NoSchedule
	//     +12m0s  node worker-b - node.kubernetes.io/unreachable:NoExecute
	//     +12m0s  zone "/b": Normal
	//
	// 1 pod is evicted, the last after 5m50s
	// nobody makes anew 1 of them: shop/web-0
}
