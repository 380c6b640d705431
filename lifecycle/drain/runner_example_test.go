package drain_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// A node is emptied for maintenance, and takes pods again when that is over.
func ExampleRunner() {
	ctx := context.Background()
	clock := new(fairlead.ManualClock)
	clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	request := drain.Request{Name: "firmware", UID: "r1", Requester: "jane@example.com", Why: "new firmware", Purpose: drain.Maintenance}
	b := &drain.MemBackend{Clock: clock, Changed: func(_ string, action drain.Action) { fmt.Println(action) }}
	b.PutNode(drain.Node{ObjectMeta: drain.ObjectMeta{Name: "node-1"}})
	pod := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "shop", Name: "web-1"}}
	pod.Spec.NodeName, pod.Status.Phase = "node-1", "Running"
	b.PutPod(pod)
	b.PutRequest("node-1", request)

	runner, err := drain.NewRunner(b, nil, &fairlead.RunnerOptions{Clock: clock, Store: new(fairlead.MemStore)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 20 { // as a reconciler does; runner.Run(ctx) does it by itself
		if _, err := runner.Reconcile(ctx, "node-1"); err != nil {
			fmt.Println(err)
			return
		}
		if r := b.Requests("node-1")[0]; r.Status.Phase == drain.PhaseDrained { // the requester does its work, and ends its request
			r.Cancelled = true
			b.PutRequest("node-1", r)
		}
		clock.Set(clock.Now().Add(10 * time.Second))
	}
	// Output:
	// cordon node node-1
	// report of request firmware: Draining
	// evict pod shop/web-1
	// report of request firmware: Drained
	// report of request firmware: Over Cancelled
	// uncordon node node-1
}

// One node of a zone at a time, of all a tenth. Whoever waits knows for whom.
func ExampleAdmit() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	limits := []drain.Limit{
		{Name: "zone", Per: "topology.kubernetes.io/zone", Max: fairlead.IntOrString{Int: 1}},
		{Name: "all", Max: fairlead.IntOrString{Text: "10%"}},
	}
	var members []drain.Member
	for i := range 20 {
		members = append(members, drain.Member{
			Name: fmt.Sprintf("node-%02d", i), UID: fmt.Sprint("uid-", i),
			Labels: map[string]string{"topology.kubernetes.io/zone": []string{"a", "b"}[i%2]},
		})
	}
	members[0].Asked, members[2].Asked = now, now // both in zone a
	members[4].Asked, members[4].Priority = now, 10
	members[7].Down, members[7].DownSince = "not ready", now.Add(-time.Hour) // in zone b
	a, err := drain.Admit(nil, members, limits, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("go:", a.Admitted)
	for _, b := range a.Blocked {
		fmt.Println(b.Subject+":", b.Message)
	}
	// Output:
	// go: [node-04]
	// node node-00: limit zone of topology.kubernetes.io/zone=a allows 1 of 10 to be out of service at a time: node-04 for 0s
	// node node-02: limit zone of topology.kubernetes.io/zone=a allows 1 of 10 to be out of service at a time: node-04 for 0s
}
