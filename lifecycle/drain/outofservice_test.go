package drain_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// TestOutOfService: which pods a plan expects to go from a silent node that is marked as out of
// service, against a budget that allows no eviction; and which other pods it expects to be replaced.
func TestOutOfService(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	soon, long := at.Add(20*time.Second), at.Add(-time.Hour)
	taint := fairlead.Taint{Key: drain.OutOfServiceTaint, Effect: fairlead.NoExecute}
	for _, c := range []struct {
		name   string
		change func(n *drain.Node, p, beside *drain.Pod)
		goes   bool
	}{
		{"it loses its pods", func(n *drain.Node, _, _ *drain.Pod) { n.Spec.Taints = []fairlead.Taint{taint} }, true},
		{"a pod that tolerates it", func(n *drain.Node, p, _ *drain.Pod) {
			n.Spec.Taints = []fairlead.Taint{taint}
			p.Spec.Tolerations = []fairlead.Toleration{{Key: taint.Key, Operator: "Exists"}}
		}, false},
		{"the taint keeps only new pods away", func(n *drain.Node, _, _ *drain.Pod) {
			n.Spec.Taints = []fairlead.Taint{{Key: taint.Key, Effect: fairlead.NoSchedule}}
		}, false},
		{"the node is heard of", func(n *drain.Node, _, _ *drain.Pod) {
			n.Spec.Taints, n.Status.Conditions[0].Status = []fairlead.Taint{taint}, "True"
		}, false},
		{"a finalizer keeps a pod that should have ended", func(n *drain.Node, p, _ *drain.Pod) {
			n.Spec.Taints, p.DeletionTimestamp, p.Finalizers = []fairlead.Taint{taint}, &long, []string{"a/b"}
		}, false},
		{"another pod of the StatefulSet ends elsewhere", func(n *drain.Node, _, beside *drain.Pod) {
			n.Status.Conditions[0].Status, beside.DeletionTimestamp = "True", &soon
		}, true},
		{"a ReplicaSet has replaced that already", func(n *drain.Node, p, beside *drain.Pod) {
			n.Status.Conditions[0].Status, beside.DeletionTimestamp = "True", &soon
			p.OwnerReferences[0].Kind, beside.OwnerReferences[0].Kind = "ReplicaSet", "ReplicaSet"
		}, false},
		{"a finalizer keeps that", func(n *drain.Node, _, beside *drain.Pod) {
			n.Status.Conditions[0].Status, beside.DeletionTimestamp, beside.Finalizers = "True", &soon, []string{"a/b"}
		}, false},
	} {
		pod := func(name, node string) drain.Pod {
			p := drain.Pod{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: name, UID: name, Labels: map[string]string{"app": "db"}}}
			p.OwnerReferences = []drain.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "s", Controller: new(true)}}
			p.Spec.NodeName, p.Status.Phase = node, "Running"
			p.Status.Conditions = []fairlead.Condition{{Type: "Ready", Status: "True"}}
			return p
		}
		node := func(name string, ready fairlead.ConditionStatus) drain.Node {
			n := drain.Node{ObjectMeta: drain.ObjectMeta{Name: name, UID: name}}
			n.Status.Conditions = []fairlead.NodeCondition{{Type: "Ready", Status: ready, LastTransitionTime: long}}
			return n
		}
		req := &drain.PlanRequest{Nodes: []drain.Node{node("n", "Unknown"), node("o", "True")}, Drain: []string{"n"}, Pods: []drain.Pod{pod("db-0", "n"), pod("db-1", "o")}, IgnoreRoom: true}
		c.change(&req.Nodes[0], &req.Pods[0], &req.Pods[1])
		b := fairlead.PodDisruptionBudget{ObjectMeta: drain.ObjectMeta{Namespace: "d", Name: "db", UID: "b", Generation: 1}}
		b.Spec.Selector = &fairlead.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
		b.Status.ObservedGeneration, b.Status.ExpectedPods, b.Status.CurrentHealthy, b.Status.DesiredHealthy = 1, 2, 1, 1
		req.Budgets = []fairlead.PodDisruptionBudget{b}
		p, err := drain.NewPlan(req, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if goes := p.Stuck == 0; goes != c.goes || len(p.Nodes[0].Pods) != 1 {
			t.Errorf("%s: goes: %v, %+v", c.name, goes, p.Nodes[0].Pods)
		}
	}
}
