package report

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/taints"
)

// Nodes that have trouble are findings where no status of pools tells of them, grouped by
// what is the matter, and the worst is the headline.
func TestAilingNodes(t *testing.T) {
	node := func(name string, keys ...string) fairlead.Node {
		n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name}}
		for _, key := range keys {
			n.Spec.Taints = append(n.Spec.Taints, fairlead.Taint{Key: key, Effect: fairlead.NoSchedule})
		}
		return n
	}
	nodes := []fairlead.Node{node("a"), node("b", taints.KeyUnreachable, taints.KeyDiskPressure), node("c", taints.KeyUnreachable, "dedicated"), node("d", taints.KeyUnschedulable)}
	nodes[2].Spec.Taints = append(nodes[2].Spec.Taints, fairlead.Taint{Key: taints.KeyUnreachable, Effect: fairlead.NoExecute})
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
		got = append(got, string(g.Tone)+" "+g.Title+": "+g.Items[0].Subject)
	}
	want := "bad 2 nodes: the node has stopped reporting: b\nwarning 1 node: the node is short of disk space: b\nnote 1 node: the node is cordoned: somebody works on it, or drains it: d"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("findings:\n%s\nwant\n%s", text, want)
	}
	if want := "2 nodes: the node has stopped reporting; and 2 more causes of trouble"; r.Headline != want {
		t.Errorf("headline %q, want %q", r.Headline, want)
	}
	if r := reportOf(&plan.Situation{Nodes: nodes[:1]}); r.Headline != "1 node, no trouble found" {
		t.Errorf("headline %q", r.Headline)
	}
}
