package plan_test

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// A broken node is one thing to repair, whatever its pool, its operator and the ClusterVersion repeat of
// it; what another operator reports beside it is another.
func TestOneRepair(t *testing.T) {
	for name, render := range map[string]fairlead.ConditionStatus{"the node alone": "False", "what is rendered, too": "True"} {
		q := newQuestion()
		q.goal.Release = "4.19.4"
		for i := range q.s.Nodes {
			if n := &q.s.Nodes[i]; n.Name == "worker-1" {
				n.Annotations[rollout.AnnotationDesired], n.Annotations[rollout.AnnotationState], n.Annotations[rollout.AnnotationReason] = "new", rollout.StateDegraded, "unexpected on-disk state"
			}
		}
		for i := range q.s.Pools {
			if p := &q.s.Pools[i]; p.Name == "worker" {
				for kind, status := range map[string]fairlead.ConditionStatus{"NodeDegraded": "True", "Degraded": "True", "RenderDegraded": render} {
					p.Status.Conditions = fairlead.SetCondition(p.Status.Conditions, fairlead.Condition{Type: kind, Status: status, Reason: "R", Message: `Node worker-1 is reporting: "unexpected on-disk state"`})
				}
			}
		}
		say := func(name, reason string) {
			o := cvo.ClusterOperator{}
			o.Name = name
			o.Status.Conditions = []fairlead.Condition{{Type: "Available", Status: "True"}, {Type: "Upgradeable", Status: "False", Reason: reason, Message: "of it"}}
			q.s.ClusterOperators = append(q.s.ClusterOperators, o)
		}
		say("machine-config", "DegradedPool")
		say("network", "OldPlugin")
		q.s.Cluster.Status.Conditions = fairlead.SetCondition(q.s.Cluster.Status.Conditions, fairlead.Condition{Type: "Upgradeable", Status: "False", Reason: "ClusterOperatorsNotUpgradeable", Message: "Multiple cluster operators should not be upgraded"})
		_, no := made(t, q)
		if no == nil || len(no.Fixes) == 0 {
			t.Fatalf("%s: %v", name, no)
		}
		want := "[{FixUpgradeable network} {RepairNodes worker-1}]"
		if render == "True" {
			want = "[{FixUpgradeable network} {RepairPool worker} {RepairNodes worker-1}]"
		}
		if got := fmt.Sprint(no.Fixes[0].Changes); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
