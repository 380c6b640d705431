package report

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
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
		node("a", "Ready", "True", ""), node("b", "Ready", "Unknown", "the kubelet has stopped"), node("c", "Ready", "Unknown", "the kubelet has stopped"),
		node("f", "Ready", "Unknown", "the kubelet has stopped"),
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
	if want := "3 nodes have the same problem: not ready: the kubelet has stopped (b, c, f); and 2 more causes"; r.Headline != want {
		t.Errorf("headline %q, want %q", r.Headline, want)
	}
	if r := reportOf(&plan.Situation{Nodes: nodes[:1]}); r.Headline != "1 node, no problems found" {
		t.Errorf("headline %q", r.Headline)
	}
}

// first returns the name of the first item, if there is one.
func first(items []Item) string {
	if len(items) == 0 {
		return ""
	}
	return items[0].Subject
}
