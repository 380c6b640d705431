package taints_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/taints"
)

// TestLint runs the scripts of testdata/lint: lines "node NAME [label:KEY...] TAINTS" and "pod
// NAME OWNER TOLERATIONS", where OWNER is Kind/name or "-".
func TestLint(t *testing.T) {
	words := golden.NewWords(t, "testdata/words/lint.txt")
	golden.Run(t, "testdata/lint/*.txt", func(t *testing.T) golden.Handler {
		return func(c *golden.Command) string {
			var out strings.Builder
			for _, f := range taints.Lint(clusterOf(c), optionsOf(c)) {
				fmt.Fprintf(&out, "%s", f.Object)
				if f.Also > 0 {
					fmt.Fprintf(&out, " and %d more", f.Also)
				}
				fmt.Fprintf(&out, ": %s: %s%s\n", f.Field, f.Code, words.Data(f.Code, f.Problem))
				words.Data(f.Code, "to do: "+f.Fix)
			}
			if out.Len() == 0 {
				return "nothing\n"
			}
			return out.String()
		}
	})
}

func clusterOf(c *golden.Command) *taints.Cluster {
	cluster := &taints.Cluster{}
	for line := range strings.Lines(c.Input) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, rest, _ := strings.Cut(rest, " ")
		if kind == "node" {
			n := fairlead.Node{ObjectMeta: fairlead.ObjectMeta{Name: name}}
			for rest != "" { // LABEL... before the taints
				label, more, _ := strings.Cut(rest, " ")
				label, is := strings.CutPrefix(label, "label:")
				if !is {
					break
				}
				if n.Labels == nil {
					n.Labels = map[string]string{}
				}
				n.Labels[label], rest = "", more
			}
			n.Spec.Taints = taintsOf(rest)
			cluster.Nodes = append(cluster.Nodes, n)
			continue
		}
		owner, rest, _ := strings.Cut(rest, " ")
		p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: name, Namespace: "shop"}}
		if kind, of, ok := strings.Cut(owner, "/"); ok {
			yes := true
			p.OwnerReferences = []fairlead.OwnerReference{{Kind: kind, Name: of, Controller: &yes}}
		}
		p.Spec.Tolerations = tolerationsOf(rest)
		cluster.Pods = append(cluster.Pods, p)
	}
	return cluster
}

// TestLintLargeList: a list of any length is looked at, and says where comparing
// ends.
func TestLintLargeList(t *testing.T) {
	p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{Name: "p"}}
	for i := range 20_000 {
		p.Spec.Tolerations = append(p.Spec.Tolerations, fairlead.Toleration{Key: fmt.Sprint("k", i), Operator: fairlead.TolerationExists})
	}
	found := taints.Lint(&taints.Cluster{Pods: []fairlead.Pod{p}}, nil)
	if len(found) != 1 || found[0].Code != taints.LintLimit {
		t.Errorf("found %v", found)
	}
}
