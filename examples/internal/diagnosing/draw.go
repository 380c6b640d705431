package diagnosing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/words"
)

// Drawing is the graph of a diagnosis as a picture: causes are marked, what is not certain is
// dashed, and nodes that are alike and have the same neighbours are one, with their number.
func Drawing(g *diagnosis.Graph) *diagram.Graph {
	out := &diagram.Graph{Name: "What waits for what", Rightward: true}
	marked := map[string]bool{}
	for _, c := range g.Causes() {
		for _, id := range c.Nodes {
			marked[id] = true
		}
	}
	of := alike(g, marked)
	count := map[string]int{}
	for _, id := range of {
		count[id]++
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if of[n.ID] != n.ID {
			continue
		}
		label := n.Says
		if more := count[n.ID] - 1; more > 0 {
			label += fmt.Sprintf("\n(and %s like it)", words.Count(more, "other", "others"))
		}
		if marked[n.ID] {
			label = "CAUSE\n" + label
		}
		out.Nodes = append(out.Nodes, diagram.Node{ID: n.ID, Label: label, Marked: marked[n.ID], Key: "wait:" + n.ID})
	}
	seen := map[[2]string]bool{}
	for _, e := range g.Edges {
		pair := [2]string{of[e.From], of[e.To]}
		if seen[pair] || pair[0] == pair[1] {
			continue
		}
		seen[pair] = true
		out.Edges = append(out.Edges, diagram.Edge{From: pair[0], To: pair[1], Dashed: e.Sure != diagnosis.Seen})
	}
	return out
}

// alike returns for each node the first of those that are like it: of the same kind, for the same
// reason, with the same neighbours. What becomes alike by that is found in turn.
func alike(g *diagnosis.Graph, marked map[string]bool) map[string]string {
	of := make(map[string]string, len(g.Nodes))
	for i := range g.Nodes {
		of[g.Nodes[i].ID] = g.Nodes[i].ID
	}
	for range 4 {
		from, to := map[string][]string{}, map[string][]string{}
		for _, e := range g.Edges {
			to[e.From] = append(to[e.From], of[e.To])
			from[e.To] = append(from[e.To], of[e.From])
		}
		list := func(ids []string) string {
			slices.Sort(ids)
			return strings.Join(slices.Compact(ids), "\x00")
		}
		first, now, changed := map[string]string{}, make(map[string]string, len(of)), false
		for i := range g.Nodes {
			n := &g.Nodes[i]
			key := fmt.Sprintf("%s\x01%s\x01%s\x01%v\x01%s\x01%s", n.Kind, n.Reason, n.State, marked[n.ID], list(to[n.ID]), list(from[n.ID]))
			first[key] = cmp.Or(first[key], n.ID)
			now[n.ID] = first[key]
			changed = changed || now[n.ID] != of[n.ID]
		}
		if of = now; !changed {
			break
		}
	}
	return of
}
