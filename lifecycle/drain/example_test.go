package drain_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Two pods of a budget that lets one be missing need two rounds; a pod of a
// budget that lets none be missing is stuck.
func ExampleNewPlan() {
	var req drain.PlanRequest
	err := json.Unmarshal([]byte(`{
		"drain": ["worker-1"],
		"nodes": [{"metadata": {"name": "worker-1"}}, {"metadata": {"name": "worker-2"}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}}],
		"pods": [
			{"metadata": {"namespace": "shop", "name": "web-1", "uid": "u1", "labels": {"app": "web"}},
			 "spec": {"nodeName": "worker-1"}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
			{"metadata": {"namespace": "shop", "name": "web-2", "uid": "u2", "labels": {"app": "web"}},
			 "spec": {"nodeName": "worker-1"}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
			{"metadata": {"namespace": "shop", "name": "db-0", "uid": "u3", "labels": {"app": "db"}},
			 "spec": {"nodeName": "worker-1"}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}],
		"budgets": [
			{"metadata": {"namespace": "shop", "name": "web"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}},
			{"metadata": {"namespace": "shop", "name": "db"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}}}]}`), &req)
	if err != nil {
		fmt.Println(err)
	}
	for i := range req.Pods { // but for the database, a controller would replace them
		yes := true
		if req.Pods[i].Labels["app"] == "web" {
			req.Pods[i].OwnerReferences = []drain.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: "r", Controller: &yes}}
		}
	}
	plan, err := drain.NewPlan(&req, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), nil)
	if err != nil {
		fmt.Println(err)
	}
	for _, p := range plan.Nodes[0].Pods {
		if p.Why != "" {
			fmt.Println(p.Name, "is stuck:", p.Why)
			continue
		}
		fmt.Println(p.Name, "goes in round", p.Round, "to", p.To)
	}
	// Output:
	// db-0 is stuck: BudgetNever
	// web-1 goes in round 1 to worker-2
	// web-2 goes in round 2 to worker-2
}

// Everything that is wrong with a policy is told at once.
func ExamplePolicy_Check() {
	policy := &drain.Policy{
		SkipWaitForDeleteTimeoutSeconds: -1,
		Rules:                           []drain.Rule{{Spec: drain.RuleSpec{Drain: drain.RuleBehavior{Behavior: "Wait"}}}},
	}
	fmt.Println(policy.Check())
	// Output:
	// rules[0].metadata.name: is empty; give the rule a name, by which rules are ordered
	// rules[0].spec.drain.behavior: there is no behavior "Wait"; write Drain, Skip or WaitCompleted
	// skipWaitForDeleteTimeoutSeconds: -1 is negative; leave it out for the default
}
