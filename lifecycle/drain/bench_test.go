package drain

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// fleet returns nodes with pods, of which most have budgets: what a cluster of
// the largest supported size holds.
func fleet(nodes, perNode int) *PlanRequest {
	req := &PlanRequest{}
	yes := true
	const replicas = 20
	total := nodes * perNode
	apps := total / replicas
	req.Nodes = make([]Node, nodes)
	for i := range req.Nodes {
		req.Nodes[i].Name = fmt.Sprintf("worker-%04d", i)
	}
	req.Pods = make([]Pod, total)
	for i := range req.Pods {
		p, app := &req.Pods[i], i%apps
		p.Namespace, p.Name, p.UID = fmt.Sprintf("team-%03d", app%300), fmt.Sprintf("app-%05d-%d", app, i/apps), fmt.Sprintf("uid-%d", i)
		p.Labels = map[string]string{"app": fmt.Sprintf("app-%05d", app), "pod-template-hash": "5d4f", "tier": "web"}
		p.OwnerReferences = []OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: p.Labels["app"], Controller: &yes}}
		p.Spec.NodeName = req.Nodes[i%nodes].Name
		p.Status.Phase = "Running"
		p.Status.Conditions = readyCondition()
		if i%11 == 0 {
			p.OwnerReferences[0].Kind = "DaemonSet"
		}
	}
	for app := range apps {
		b := PodDisruptionBudget{ObjectMeta: ObjectMeta{Namespace: fmt.Sprintf("team-%03d", app%300), Name: fmt.Sprintf("app-%05d", app), Generation: 1}}
		b.Spec.MaxUnavailable = &IntOrString{Text: "10%"}
		b.Spec.Selector = &LabelSelector{MatchLabels: map[string]string{"app": b.Name}}
		b.Status = fairlead.BudgetStatus{
			ObservedGeneration: 1, ExpectedPods: replicas, CurrentHealthy: replicas, DesiredHealthy: replicas - 2, DisruptionsAllowed: 2,
		}
		if app%50 == 0 {
			b.Spec.MaxUnavailable = &IntOrString{Int: 0}
			b.Status.DesiredHealthy, b.Status.DisruptionsAllowed = replicas, 0
		}
		req.Budgets = append(req.Budgets, b)
	}
	return req
}

// BenchmarkNewPlan plans the drain of a whole fleet: 5,000 nodes with 110 pods
// each, 27,500 budgets with numbers as a cluster prints them, or without, so
// that these are computed from the pods.
func BenchmarkNewPlan(b *testing.B) {
	for _, bench := range []struct {
		name     string
		atOnce   int
		computed bool
	}{{"status/atOnce=1", 1, false}, {"status/atOnce=50", 50, false}, {"computed/atOnce=1", 1, true}} {
		b.Run("5000x110/"+bench.name, func(b *testing.B) {
			req := fleet(5000, 110)
			req.AtOnce = bench.atOnce
			for i := range req.Budgets {
				if bench.computed {
					req.Budgets[i].Status = fairlead.BudgetStatus{}
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				plan, err := NewPlan(req, drainStart, nil)
				if err != nil || plan.Evicted == 0 || plan.Stuck == 0 {
					b.Fatal(err, plan.Evicted, plan.Stuck)
				}
			}
		})
	}
}

// BenchmarkDrain is one decision about a node all of whose pods a budget keeps,
// when nothing has changed.
func BenchmarkDrain(b *testing.B) {
	req := fleet(1, 110)
	for i := range req.Budgets {
		req.Budgets[i].Status = fairlead.BudgetStatus{ObservedGeneration: 1, DesiredHealthy: 20, ExpectedPods: 20}
	}
	req.Nodes[0].Spec.Unschedulable = true
	w := &View{Node: &req.Nodes[0], Pods: req.Pods, Budgets: req.Budgets}
	d := Pods(Progress{}, w, nil, drainStart, nil)
	now := drainStart.Add(time.Second)
	b.ReportAllocs()
	for b.Loop() {
		if d := Pods(d.Progress, w, nil, now, nil); d.Done || len(d.Actions) > 0 {
			b.Fatal(len(d.Actions))
		}
	}
}
