package drain_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// cluster is a backend in memory: one node, its pods, a request about it.
type cluster struct {
	node    drain.Node
	pods    []drain.Pod
	request drain.Request
	done    context.CancelFunc
}

func (c *cluster) Observe(context.Context, string) (*drain.World, error) {
	w := &drain.World{Name: c.node.Name, Requests: []drain.Request{c.request}}
	node := c.node
	w.Node, w.Pods = &node, slices.Clone(c.pods)
	return w, nil
}

func (c *cluster) Apply(_ context.Context, _ string, action drain.Action) error {
	fmt.Println(action)
	switch a := action.(type) {
	case drain.Cordon:
		if !c.node.Spec.Unschedulable {
			c.node.Spec.Unschedulable, c.node.Annotations = true, map[string]string{drain.CordonAnnotation: a.Mark}
		}
	case drain.Evict:
		c.pods = slices.DeleteFunc(c.pods, func(p drain.Pod) bool { return p.UID == a.UID })
	case drain.Report:
		c.request.Status = a.Status
		if a.Status.Phase == drain.PhaseDrained { // the requester does its work, and ends its request
			c.request.Cancelled = true
		}
	case drain.Uncordon:
		c.node.Spec.Unschedulable, c.node.Annotations = false, nil
		c.done()
	}
	return nil
}

// A node is emptied for maintenance, and takes pods again when that is over.
func ExampleRunner() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := &cluster{done: cancel}
	c.node.Name, c.node.UID = "node-1", "n1"
	pod := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "shop", Name: "web-1", UID: "p1"}}
	pod.Spec.NodeName, pod.Status.Phase = "node-1", "Running"
	c.pods = []drain.Pod{pod}
	c.request = drain.Request{Name: "firmware", UID: "r1", Requester: "jane@example.com", Why: "new firmware", Purpose: drain.Maintenance}

	runner, err := drain.NewRunner(c, nil, &fairlead.RunnerOptions{Store: new(fairlead.MemStore)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for ctx.Err() == nil { // as a reconciler does; runner.Run(ctx) does it by itself
		if _, err := runner.Reconcile(ctx, "node-1"); err != nil {
			fmt.Println(err)
			return
		}
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
	// node node-00: limit zone of topology.kubernetes.io/zone=a lets 1 of 10 be out of service at a time: node-04 for 0s
	// node node-02: limit zone of topology.kubernetes.io/zone=a lets 1 of 10 be out of service at a time: node-04 for 0s
}
