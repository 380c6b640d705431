package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/lifecycle"
)

// What blocks the drain of a node and the deletion of its machine is one finding, which names
// both.
func TestBlockedOnce(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	since := at.Add(-time.Hour)
	cluster := func(replicas, minAvailable int, ready string) *plan.Situation {
		s := &plan.Situation{At: at}
		for i := range replicas {
			n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: fmt.Sprint("n", i), UID: fmt.Sprint("node-", i)}}
			n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: since}}
			s.Nodes = append(s.Nodes, n)
			p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("db-", i), UID: fmt.Sprint("pod-", i), Labels: map[string]string{"app": "db"},
				OwnerReferences: []fairlead.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "db", Controller: new(true)}}}}
			p.Spec.NodeName, p.Status.Phase = n.Name, fairlead.PodRunning
			p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: fairlead.ConditionStatus(map[byte]string{'y': "True", 'n': "False"}[ready[i]])}}
			s.Pods = append(s.Pods, p)
		}
		b := fairlead.PodDisruptionBudget{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "db"}}
		b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
		b.Spec.MinAvailable = &fairlead.IntOrString{Int: minAvailable}
		healthy := strings.Count(ready, "y")
		b.Status = fairlead.BudgetStatus{ExpectedPods: replicas, DesiredHealthy: minAvailable, CurrentHealthy: healthy, DisruptionsAllowed: max(0, healthy-minAvailable)}
		s.Budgets = []fairlead.PodDisruptionBudget{b}
		m := lifecycle.Machine{ObjectMeta: fairlead.ObjectMeta{Namespace: "machines", Name: "m0", UID: "m0", DeletionTimestamp: &since, Finalizers: []string{lifecycle.Finalizer}}}
		m.Status.NodeRef = &lifecycle.NodeRef{Kind: "Node", Name: "n0", UID: "node-0"}
		s.Machines = []lifecycle.Machine{m}
		return s
	}
	held := cluster(3, 2, "yyn")
	held.Machines[0].Spec.LifecycleHooks.PreDrain = []lifecycle.Hook{{Name: "move-volumes", Owner: "storage-operator"}}
	for name, test := range map[string]struct {
		s    *plan.Situation
		want string // the findings: titles and items
	}{
		"spent": {cluster(3, 2, "yyn"), `
2 nodes cannot be drained: a disruption budget allows no eviction at present
  n0: 1 pod: a disruption budget allows no eviction at present (shop/db); machine machines/m0, which is being deleted, waits for this
  n1: 1 pod: a disruption budget allows no eviction at present (shop/db)`},
		"never": {cluster(2, 2, "yy"), `
1 disruption budget never allows an eviction: nodes that run its pods cannot be drained
  shop/db: requires 2 healthy pods of 2 expected; machine machines/m0, which is being deleted, waits for this`},
		"hook": {held, `
2 nodes cannot be drained: a disruption budget allows no eviction at present
  n0: 1 pod: a disruption budget allows no eviction at present (shop/db)
  n1: 1 pod: a disruption budget allows no eviction at present (shop/db)
1 machine being deleted is blocked: preDrain hook move-volumes is not removed
  machines/m0: preDrain hook move-volumes is not removed`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Make(t.Context(), &Input{Situation: test.s})
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, g := range r.Findings {
				if g.Tone == Note {
					continue
				}
				b.WriteString("\n" + g.Title)
				for _, x := range g.Items {
					b.WriteString("\n  " + x.Subject + ": " + x.Text)
				}
			}
			if got := b.String(); got != test.want {
				t.Errorf("findings:%s\nwant%s", got, test.want)
			}
		})
	}
}
