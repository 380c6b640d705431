package plan_test

import (
	"fmt"
	"strings"
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

// What a ClusterVersion only repeats of its operators is over with them, though others do not say how they
// are; what it says for another reason is another thing to repair.
func TestRepeatedOfOperators(t *testing.T) {
	for reason, want := range map[string]string{
		"ClusterOperatorsNotUpgradeable": "[{FixUpgradeable network}]",
		"Odd":                            "[{FixUpgradeable Odd} {FixUpgradeable network}]",
	} {
		q := newQuestion()
		q.goal.Release = "4.19.4"
		for name, status := range map[string]fairlead.ConditionStatus{"network": "False", "storage": "Unknown"} {
			o := cvo.ClusterOperator{}
			o.Name = name
			o.Status.Conditions = []fairlead.Condition{{Type: "Available", Status: "True"}, {Type: "Upgradeable", Status: status, Reason: "OldPlugin", Message: "of it"}}
			q.s.ClusterOperators = append(q.s.ClusterOperators, o)
		}
		q.s.Cluster.Status.Conditions = fairlead.SetCondition(q.s.Cluster.Status.Conditions, fairlead.Condition{Type: "Upgradeable", Status: "False", Reason: reason, Message: "something should not be upgraded"})
		_, no := made(t, q)
		if no == nil || len(no.Fixes) == 0 {
			t.Fatalf("%s: %v", reason, no)
		}
		if got := fmt.Sprint(no.Fixes[0].Changes); got != want {
			t.Errorf("%s: %s, want %s", reason, got, want)
		}
	}
}

// Of a node whose pods are not known, all is allowed that lets a drain go on without harm to pods that
// nothing replaces; DaemonSets are everywhere.
func TestDrainFlags(t *testing.T) {
	for _, c := range []struct {
		known bool
		want  string
	}{
		{true, "oc adm drain worker-1 --ignore-daemonsets"}, {false, "oc adm drain worker-1 --ignore-daemonsets --delete-emptydir-data"},
	} {
		q := newQuestion()
		q.goal.Nodes = []string{"worker-1"}
		if q.s.Pods = []fairlead.Pod{}; !c.known {
			q.s.Pods = nil
		}
		p, no := made(t, q)
		if p == nil {
			t.Fatalf("%v", no)
		}
		got := ""
		for _, s := range p.Steps {
			if strings.HasPrefix(s.Command, "oc adm drain ") {
				got = s.Command
			}
		}
		if got != c.want {
			t.Errorf("known %v: %q, want %q", c.known, got, c.want)
		}
	}
}
