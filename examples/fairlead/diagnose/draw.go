package diagnose

import (
	"slices"

	"github.com/fairlead/fairlead/cvo/diagnosis"
	"github.com/fairlead/fairlead/internal/diagram"
)

// drawing is the graph as a picture: causes are marked, and what is not certain is dashed.
func drawing(d *diagnosis.Diagnosis) *diagram.Graph {
	g := &diagram.Graph{Name: "what waits for what", Rightward: true}
	marked := func(id string) bool {
		return slices.ContainsFunc(d.Causes, func(c diagnosis.Cause) bool { return slices.Contains(c.Nodes, id) })
	}
	for i := range d.Graph.Nodes {
		n := &d.Graph.Nodes[i]
		g.Nodes = append(g.Nodes, diagram.Node{ID: n.ID, Label: n.Says, Marked: marked(n.ID)})
	}
	for _, e := range d.Graph.Edges {
		g.Edges = append(g.Edges, diagram.Edge{From: e.From, To: e.To, Dashed: e.Sure != diagnosis.Seen})
	}
	return g
}
