package diagnosing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
)

// crowd is a graph in which each of n drains waits for some of n budgets, no two for the same ones, and a pool for all of the drains.
func crowd(n int) *diagnosis.Graph {
	g := &diagnosis.Graph{Nodes: []diagnosis.Node{{ID: "pool/w", Kind: "Pool", Name: "w", State: diagnosis.Waiting, Reason: "Waits", Says: "pool w"}}}
	for i := range n {
		node, budget := fmt.Sprintf("node/n%d", i), fmt.Sprintf("budget/b%d", i)
		g.Nodes = append(g.Nodes,
			diagnosis.Node{ID: node, Kind: "Node", Name: fmt.Sprint("n", i), State: diagnosis.Waiting, Reason: "Draining", Says: node},
			diagnosis.Node{ID: budget, Kind: "Budget", Name: fmt.Sprint("b", i), State: diagnosis.Faulty, Reason: "Never", Says: budget})
		g.Edges = append(g.Edges, diagnosis.Edge{From: "pool/w", To: node, Rule: "Pool", Sure: diagnosis.Seen})
		for k := range i%3 + 1 {
			g.Edges = append(g.Edges, diagnosis.Edge{From: node, To: fmt.Sprintf("budget/b%d", (i+k)%n), Rule: "Budget", Sure: diagnosis.Derived})
		}
	}
	g.Normal()
	return g
}

// A drawing stays readable however much waits, and nothing is left out: what is not drawn is counted beside what is
// like it, and the causes stay apart.
func TestShow(t *testing.T) {
	for _, n := range []int{3, 20, 200, 3000} {
		g := crowd(n)
		s := diagnosing.Show(g)
		if len(s.Nodes) > 60 {
			t.Errorf("%d budgets: %d nodes are drawn", n, len(s.Nodes))
		}
		seen := map[string]bool{}
		for i := range s.Nodes {
			for _, id := range append(s.Like[s.Nodes[i].ID], s.Nodes[i].ID) {
				if seen[id] {
					t.Errorf("%d budgets: %s is there twice", n, id)
				}
				seen[id] = true
				if a, b := g.Node(id), &s.Nodes[i]; a == nil || a.Kind != b.Kind || a.Reason != b.Reason {
					t.Errorf("%d budgets: %s counts as like %s", n, id, b.ID)
				}
			}
		}
		if len(seen) != len(g.Nodes) {
			t.Errorf("%d budgets: %d of %d nodes are drawn or counted", n, len(seen), len(g.Nodes))
		}
		var text strings.Builder
		if err := s.Drawing().WriteDOT(&text); err != nil || !strings.Contains(text.String(), "CAUSE") {
			t.Errorf("%d budgets: no cause, %v", n, err)
		}
		to := map[string]bool{}
		for _, e := range s.Edges {
			to[e.From[:4]+e.To[:4]] = true
			if s.Node(e.From) == nil || s.Node(e.To) == nil {
				t.Errorf("%d budgets: an edge from or to what is not drawn: %+v", n, e)
			}
		}
		if !to["poolnode"] || !to["nodebudg"] {
			t.Errorf("%d budgets: edges %v", n, to)
		}
	}
}
