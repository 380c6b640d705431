package report

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Nodes with problems are findings on any cluster, grouped by problem, and the worst is the
// headline.
func TestHeadlineOfNodes(t *testing.T) {
	node := func(name, kind string, status fairlead.ConditionStatus, message string) fairlead.Node {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name}}
		n.Status.Conditions = []fairlead.NodeCondition{{Type: kind, Status: status, Message: message}}
		return n
	}
	nodes := []fairlead.Node{
		node("a", "Ready", "True", ""), node("b", "Ready", "Unknown", "the kubelet has stopped."), node("c", "Ready", "Unknown", "the kubelet has stopped."),
		node("f", "Ready", "Unknown", "the kubelet has stopped."),
		node("d", "DiskPressure", "True", "the disk is full"), node("e", "Ready", "True", ""),
	}
	nodes[5].Spec.Unschedulable = true
	reportOf := func(s *plan.Situation) *Report {
		r, err := Make(t.Context(), &Input{Situation: s})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := reportOf(&plan.Situation{Nodes: nodes})
	var got []string
	for _, g := range r.Findings {
		got = append(got, string(g.Tone)+" "+g.Title+": "+first(g.Items))
	}
	want := "warning 3 nodes have the same problem: not ready: the kubelet has stopped (b, c, f): node b\nnote node d: DiskPressure: the disk is full: \nnote node e: marked unschedulable: "
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("findings:\n%s\nwant\n%s", text, want)
	}
	if want := "3 nodes have the same problem: not ready: the kubelet has stopped (b, c, f); and 2 other causes"; r.Headline != want {
		t.Errorf("headline %q, want %q", r.Headline, want)
	}
	if r := reportOf(&plan.Situation{Nodes: nodes[:1]}); r.Headline != "1 node, no problems found in what is known" {
		t.Errorf("headline %q", r.Headline)
	}
	if r := reportOf(&plan.Situation{Nodes: nodes[:1], Pods: []fairlead.Pod{}, Budgets: []fairlead.PodDisruptionBudget{}}); r.Headline != "1 node, no problems found" {
		t.Errorf("headline %q", r.Headline)
	}
}

// Every reason why a planned drain does not complete is described, with what to do about it.
func TestReasonsOfDrains(t *testing.T) {
	for _, why := range []string{
		drain.ReasonLaterOrder, drain.ReasonPodProtected, drain.ReasonPodInvalid, drain.ReasonManyBudgets, drain.ReasonBudgetUnobserved,
		drain.ReasonBudgetBroken, drain.ReasonBudgetInUse, drain.ReasonBudgetUnhealthy, drain.ReasonBudgetSpent,
	} {
		if plainReason(why) == why || help(why) == "" {
			t.Errorf("%s: %q, do %q", why, plainReason(why), help(why))
		}
	}
}

// Pods without a node wait for one, unless they have ended; pods whose node the dump does not
// contain wait for nothing.
func TestPodsWithoutNode(t *testing.T) {
	pod := func(name, node string, phase fairlead.PodPhase) fairlead.Pod {
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Namespace: "shop", Name: name, UID: name, OwnerReferences: []fairlead.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "db", Controller: new(true)}}}}
		p.Spec.NodeName, p.Status.Phase = node, phase
		return p
	}
	s := &plan.Situation{Nodes: []fairlead.Node{{ObjectMeta: fairlead.ObjectMeta{Name: "a"}}}, Pods: []fairlead.Pod{
		pod("db-0", "a", fairlead.PodRunning), pod("db-1", "b", fairlead.PodRunning), pod("db-2", "b", fairlead.PodRunning), pod("db-3", "", "Pending"), pod("db-4", "", fairlead.PodFailed),
	}}
	r, err := Make(t.Context(), &Input{Situation: s})
	if err != nil {
		t.Fatal(err)
	}
	if w := r.Workloads; w.Pods[0] != 5 || len(w.Waiting) != 1 || w.Waiting[0] != 1 || len(w.Elsewhere) != 1 || w.Elsewhere[0] != 2 {
		t.Errorf("%d pods, %d wait for a node, and %d are on a node that the dump does not contain; want 5, 1 and 2", w.Pods, w.Waiting, w.Elsewhere)
	}
	if len(r.Gaps) != 1 || r.Gaps[0].What != "the node b, where pods of this dump run" {
		t.Errorf("gaps: %v", r.Gaps)
	}
	s.Pods = s.Pods[:1]
	if r, err = Make(t.Context(), &Input{Situation: s}); err != nil || r.Workloads.Waiting != nil || r.Workloads.Elsewhere != nil {
		t.Errorf("%v: %+v; lists of zeros are left out", err, r.Workloads)
	}
}

// first returns the name of the first item, if there is one.
func first(items []Item) string {
	if len(items) == 0 {
		return ""
	}
	return items[0].Subject
}
