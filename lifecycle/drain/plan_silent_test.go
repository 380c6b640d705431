package drain_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// TestPlanSilentNode: a node that does not report is no room for what another one gives up; of one without
// the condition nothing speaks against it.
func TestPlanSilentNode(t *testing.T) {
	now, yes := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), true
	node := func(name string, conditions ...fairlead.NodeCondition) fairlead.Node {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name, UID: name}}
		n.Status.Allocatable = map[string]string{"cpu": "8", "memory": "8Gi", "pods": "10"}
		n.Status.Conditions = conditions
		return n
	}
	for status, want := range map[fairlead.ConditionStatus]bool{"True": true, "False": false, "Unknown": false, "": true} {
		var conditions []fairlead.NodeCondition
		if status != "" {
			conditions = []fairlead.NodeCondition{{Type: "Ready", Status: status}}
		}
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: "web", UID: "p", OwnerReferences: []fairlead.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: "r", Controller: &yes}}}}
		p.Spec.NodeName = "n1"
		plan, err := drain.NewPlan(&drain.PlanRequest{Nodes: []fairlead.Node{node("n1", fairlead.NodeCondition{Type: "Ready", Status: "True"}), node("n2", conditions...)}, Drain: []string{"n1"}, Pods: []fairlead.Pod{p}}, now, nil)
		if err != nil {
			t.Fatal(err)
		}
		if homeless := plan.Nodes[0].Pods[0].NoRoom != nil; homeless == want {
			t.Errorf("Ready=%q: %+v", status, plan.Nodes[0].Pods[0])
		}
	}
}
