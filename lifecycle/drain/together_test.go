package drain

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// TestTogether: one node is drained as [Pods] drains it; several never ask for more
// than a budget allows, counting what is asked for and not seen yet, and ask for all
// that it allows.
func TestTogether(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		var budgets []PodDisruptionBudget
		for i := range 1 + r.IntN(3) {
			b := PodDisruptionBudget{ObjectMeta: ObjectMeta{Namespace: "shop", Name: fmt.Sprint("b", i)}}
			b.Spec.Selector = &LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}}
			b.Status.DisruptionsAllowed, b.Status.CurrentHealthy, b.Status.ExpectedPods = r.IntN(4), 9, 9
			b.Status.DesiredHealthy = 9 - b.Status.DisruptionsAllowed
			budgets = append(budgets, b)
		}
		var nodes []Draining
		pods := map[string]int{} // by app, of all nodes
		for i := range 1 + r.IntN(4) {
			v := &View{Node: &Node{ObjectMeta: ObjectMeta{Name: fmt.Sprint("n", i), UID: fmt.Sprint("u", i)}}, Budgets: budgets}
			v.Node.Spec.Unschedulable = true
			for j := range r.IntN(5) {
				app := fmt.Sprint(r.IntN(4))
				p := Pod{ObjectMeta: ObjectMeta{Namespace: "shop", Name: fmt.Sprint("p", i, j), UID: fmt.Sprint("p", i, j), Labels: map[string]string{"app": app}}}
				p.OwnerReferences = []OwnerReference{{Kind: "ReplicaSet", Name: "rs", Controller: new(true)}}
				p.Spec.NodeName, p.Status.Phase = v.Node.Name, "Running"
				p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionTrue}}
				v.Pods = append(v.Pods, p)
				pods[app]++
			}
			nodes = append(nodes, Draining{View: v})
		}
		if one := nodes[0]; len(nodes) == 1 {
			if got, want := Together(nodes, now, nil)[0], Pods(one.Progress, one.View, one.Labels, now, nil); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: one node: %+v, want %+v", seed, got, want)
			}
		}
		asked := map[string]int{}
		for range 3 {
			for i, d := range Together(nodes, now, nil) {
				nodes[i].Progress = d.Progress
				for _, a := range d.Actions {
					for _, p := range nodes[i].View.Pods {
						if a.(Evict).UID == p.UID {
							asked[p.Labels["app"]]++
						}
					}
				}
			}
			now = now.Add(time.Second) // and nothing is seen of it yet
		}
		for i, b := range budgets {
			app := fmt.Sprint(i)
			if want := min(pods[app], b.Status.DisruptionsAllowed); asked[app] != want {
				t.Fatalf("seed %d: %d pods of %s were asked for, want %d: there are %d, and %d may go", seed, asked[app], app, want, pods[app], b.Status.DisruptionsAllowed)
			}
		}
	}
}
