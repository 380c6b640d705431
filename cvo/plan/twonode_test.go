package plan_test

import (
	"slices"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
)

// Two voters of etcd are too few for a restart, unless Pacemaker runs it on two nodes: then that is
// looked at first. With one of them unhealthy the other is not restarted.
func TestTwoNodes(t *testing.T) {
	q := newQuestion()
	q.goal.Release = "4.18.9"
	q.s.Moves = []plan.Move{{From: "4.18.1", To: "4.18.9"}}
	q.s.Nodes = slices.DeleteFunc(q.s.Nodes, func(n fairlead.Node) bool { return n.Name == "master-2" })
	q.s.Members = q.s.Members[:2]
	if _, no := made(t, q); no == nil || no.Reasons[0].Reason != plan.FactFewMembers {
		t.Errorf("two members without fencing: %v", no)
	}
	q.s.Topology = plan.TopologyTwo
	p, no := made(t, q)
	if no != nil {
		t.Fatal(no)
	}
	fencing := func(x plan.Task) bool {
		return x.Kind == plan.CheckFencing && x.Command == "oc debug node/master-0 -- chroot /host pcs status"
	}
	if !slices.ContainsFunc(p.Steps[0].First, fencing) {
		t.Errorf("%v does not look at Pacemaker", p)
	}
	q.s.Members[1].Healthy = fairlead.ConditionFalse
	if _, no := made(t, q); no == nil {
		t.Error("a node is restarted while the other member of etcd is unhealthy")
	}
}
