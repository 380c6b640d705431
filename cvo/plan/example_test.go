package plan_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/plan"
)

// shop is a cluster at 4.18.1 with a pool of workers and one operator.
func shop() *plan.Situation {
	cv := &cvo.ClusterVersion{}
	cv.Status.Desired.Version = "4.18.1"
	pool := func(name string) cvo.Pool {
		p := cvo.Pool{ObjectMeta: cvo.ObjectMeta{Name: name}}
		p.Spec.NodeSelector = &fairlead.LabelSelector{MatchLabels: map[string]string{"pool": name}}
		p.Status.Configuration.Name = "rendered-" + name
		return p
	}
	node := func(name, pool string) fairlead.Node {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, Labels: map[string]string{"pool": pool}}}
		n.Status.Allocatable = map[string]string{"cpu": "4", "memory": "16Gi", "pods": "100"}
		return n
	}
	return &plan.Situation{
		At: time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC), Cluster: cv, ClusterOperators: []cvo.ClusterOperator{}, Gates: &cvo.AdminGates{},
		Moves:   []plan.Move{{From: "4.18.1", To: "4.19.4"}, {From: "4.19.4", To: "4.20.2", Risks: []string{"SlowDNS"}}},
		Pools:   []cvo.Pool{pool("master"), pool("worker")},
		Configs: map[string]string{"rendered-master": "4.18.1", "rendered-worker": "4.18.1"},
		Nodes:   []fairlead.Node{node("m0", "master"), node("w0", "worker"), node("w1", "worker")},
		Pods:    []fairlead.Pod{}, Budgets: []fairlead.PodDisruptionBudget{}, Members: []plan.Member{},
		Removed: []plan.RemovedAPI{},
		Operators: []plan.Operator{{
			Package: "queue", Namespace: "shop", Subscription: "queue", Channel: "stable", Installed: "queue.v1",
			Versions: []plan.OperatorVersion{{Name: "queue.v1", Version: "1.0.0", MaxOpenShift: "4.19"}, {Name: "queue.v2", Version: "2.0.0"}},
			Updates:  []plan.OperatorUpdate{{From: "queue.v1", To: "queue.v2", Minors: []string{"4.19"}}},
		}},
	}
}

// Two minor versions, with the workers restarted once.
func ExampleMake() {
	p, err := plan.Make(context.Background(), shop(), &plan.Goal{Release: "4.20.2", PauseWorkers: true}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range p.Steps {
		fmt.Println("-", s)
		for _, u := range s.Unseen {
			fmt.Println("    not seen:", u.What)
		}
	}
	fmt.Println("proven:", plan.Check(context.Background(), shop(), &plan.Goal{Release: "4.20.2", PauseWorkers: true}, nil, p) == nil)
	// Output:
	// - pause the pool worker
	// - update the cluster from 4.18.1 to 4.19.4
	// - restart the nodes of pool master into 4.19.4
	// - update the operator queue to queue.v2
	// - update the cluster from 4.19.4 to 4.20.2
	//     not seen: whether the risk SlowDNS applies
	//     not seen: which admin gates must be acknowledged in 4.19
	//     not seen: whether a cluster operator of 4.19 blocks minor updates
	// - restart the nodes of pool master into 4.20.2
	// - unpause the pool worker
	// - restart the nodes of pool worker into 4.20.2
	// proven: true
}

// Where there is no plan, it says why, and what would help.
func ExampleMake_impossible() {
	s := shop()
	s.Risks = []plan.Risk{{Name: "SlowDNS", Applies: fairlead.ConditionTrue, Message: "Names are resolved late."}}
	_, err := plan.Make(context.Background(), s, &plan.Goal{Release: "4.20.2"}, &plan.Policy{KeepOperators: []string{"queue"}})
	fmt.Println(err)
	// Output:
	// there is no plan from 4.18.1 to 4.20.2:
	// - the risk SlowDNS applies to this cluster and is not accepted: Names are resolved late
	// Each of these was tried and leads to a plan:
	// - accept the risk SlowDNS, if this cluster can tolerate it; and allow the operator queue to be updated (then 7 steps, about 3h05m)
}
