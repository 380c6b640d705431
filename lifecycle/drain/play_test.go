package drain_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// TestPlanIsPlayed draws clusters: full, spread, with anti-affinity, budgets and dead nodes,
// without priorities, finalizers and volumes; predicts the drain of a node; and lets the engine drain it in
// a cluster in memory, where a scheduler places what controllers create. A drain that is
// predicted to complete does; one that is predicted to be stuck mostly is.
func TestPlanIsPlayed(t *testing.T) {
	yes, no, wrongly, elsewhere := 0, 0, 0, 0
	for seed := range uint64(long.N(50, 5_000)) {
		rng := rand.New(rand.NewPCG(seed, 43))
		nodes, pods, budgets := drawn(rng)
		plan, err := drain.NewPlan(&drain.PlanRequest{Nodes: nodes, Drain: []string{"n0"}, Pods: pods, Budgets: budgets}, noon, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		done, homeless, left := played(t, nodes, pods, budgets)
		want := plan.Stuck == 0
		switch {
		case want && !done:
			text, _ := json.Marshal(plan)
			t.Errorf("seed %d: predicted to complete, and is not done: %v\n%s", seed, left, text)
		case !want && done:
			wrongly++
			t.Logf("seed %d: predicted to be stuck, and is done: %v", seed, plan.Blocks())
		case want && plan.Homeless == 0 && homeless > 0:
			elsewhere++ // the scheduler has chosen other nodes that fit, and used up the room of a larger pod
		}
		if want {
			yes++
		} else {
			no++
		}
	}
	if yes < 10 || no < 5 || (wrongly+elsewhere)*50 > yes+no {
		t.Errorf("%d complete, %d stuck, %d of these wrongly; %d with pods that have no node", yes, no, wrongly, elsewhere)
	}
	t.Logf("%d complete, %d stuck, %d of these wrongly; %d with pods that have no node", yes, no, wrongly, elsewhere)
}

// drawn returns a random cluster; the first node is drained.
func drawn(rng *rand.Rand) (nodes []drain.Node, pods []drain.Pod, budgets []drain.PodDisruptionBudget) {
	n := 1 + rng.IntN(4)
	for i := range n {
		node := drain.Node{ObjectMeta: drain.ObjectMeta{Name: fmt.Sprint("n", i), UID: fmt.Sprint("node-", i), Labels: map[string]string{"kubernetes.io/hostname": fmt.Sprint("n", i), "zone": fmt.Sprint("z", i%2)}}}
		node.Status.Allocatable = map[string]string{"cpu": fmt.Sprint(2 + rng.IntN(5)), "memory": "16Gi", "pods": "20"}
		node.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: "True", LastTransitionTime: noon.Add(-time.Hour)}}
		if i == 0 && rng.IntN(8) == 0 {
			node.Status.Conditions[0].Status = "Unknown"
			node.Spec.Taints = []fairlead.Taint{{Key: "node.kubernetes.io/unreachable", Effect: fairlead.NoSchedule}}
		}
		nodes = append(nodes, node)
	}
	yes := true
	for a := range 1 + rng.IntN(3) {
		app := fmt.Sprint("app", a)
		labels := map[string]string{"app": app}
		apart, zones, cpu := rng.IntN(4) == 0, rng.IntN(5) == 0, 1+rng.IntN(2)
		kind := []string{"ReplicaSet", "ReplicaSet", "StatefulSet"}[rng.IntN(3)]
		free := map[int]int{}
		for i := range 1 + rng.IntN(3) {
			at := rng.IntN(n)
			if apart {
				if at = i; at >= n {
					break
				}
			}
			if free[at]++; free[at] > 1 {
				continue
			}
			p := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: fmt.Sprintf("%s-%d", app, i), UID: fmt.Sprintf("%s-%d", app, i), Labels: labels, CreationTimestamp: noon.Add(-time.Hour)}}
			p.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: app, UID: app, Controller: &yes}}
			p.Spec.NodeName, p.Status.Phase = nodes[at].Name, fairlead.PodRunning
			p.Spec.Containers = []fairlead.Container{{Name: "c", Resources: fairlead.Resources{Requests: map[string]string{"cpu": fmt.Sprintf("%d00m", 5*cpu)}}}}
			p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
			if apart {
				p.Spec.Affinity = &fairlead.Affinity{PodAntiAffinity: &fairlead.PodAffinity{Required: []fairlead.PodAffinityTerm{{LabelSelector: &drain.LabelSelector{MatchLabels: labels}, TopologyKey: "kubernetes.io/hostname"}}}}
			}
			if zones {
				p.Spec.TopologySpreadConstraints = []fairlead.SpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: fairlead.DoNotSchedule, LabelSelector: &drain.LabelSelector{MatchLabels: labels}}}
			}
			if rng.IntN(12) == 0 {
				p.Status.Conditions[0].Status = "False"
			}
			pods = append(pods, p)
		}
		if rng.IntN(3) > 0 {
			b := drain.PodDisruptionBudget{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: app}}
			b.Spec.Selector = &drain.LabelSelector{MatchLabels: labels}
			amount := fairlead.IntOrString{Int: rng.IntN(3)}
			if rng.IntN(2) == 0 {
				b.Spec.MinAvailable = &amount
			} else {
				b.Spec.MaxUnavailable = &amount
			}
			budgets = append(budgets, b)
		}
	}
	return nodes, pods, budgets
}

// played drains the first node until nothing happens any more, and returns whether that
// is done, how many pods have no node then, and what it waits for.
func played(t *testing.T, nodes []drain.Node, pods []drain.Pod, budgets []drain.PodDisruptionBudget) (done bool, homeless int, left []fairlead.Block) {
	clock := new(fairlead.ManualClock)
	clock.Set(noon)
	shared := &fairlead.MemCluster{Clock: clock}
	b := &drain.MemBackend{Cluster: shared}
	without := func() (count int) {
		all := cluster.Of(shared, nil, nil)
		all.Lock()
		defer all.Unlock()
		for _, p := range cluster.Refs(all, cluster.Pods()) {
			if p.Spec.NodeName == "" {
				count++
			}
		}
		return count
	}
	for _, n := range nodes {
		n.Status.Conditions = slices.Clone(n.Status.Conditions)
		b.PutNode(n)
	}
	for _, p := range pods {
		b.PutPod(p)
	}
	for _, x := range budgets {
		if err := b.PutBudget(x); err != nil {
			t.Fatal(err)
		}
	}
	b.PutRequest("n0", drain.Request{Name: "r", UID: "r", Requester: "test", Purpose: drain.Maintenance, Asked: noon})
	r, err := drain.NewRunner(b, nil, &fairlead.RunnerOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	for end := noon.Add(2 * time.Hour); clock.Now().Before(end); clock.Set(clock.Now().Add(10 * time.Second)) {
		d, err := r.Reconcile(t.Context(), "n0")
		if err != nil {
			t.Fatal(err)
		}
		left = d.Blocked
		if slices.ContainsFunc(d.Blocked, func(w fairlead.Block) bool {
			return w.Reason == drain.ReasonRequesterActs || w.Reason == drain.ReasonSilentActs
		}) {
			clock.Set(clock.Now().Add(5 * time.Minute))
			return true, without(), nil
		}
	}
	return false, without(), left
}
