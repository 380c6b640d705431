package graph

import (
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/diagram"
)

// Diagram is a drawing of part of a graph, for DOT and Mermaid.
type Diagram struct{ graph diagram.Graph }

// WriteDOT writes the drawing in the DOT language of Graphviz.
func (d *Diagram) WriteDOT(w io.Writer) error { return d.graph.WriteDOT(w) }

// WriteMermaid writes the drawing as a Mermaid flowchart for Markdown pages.
func (d *Diagram) WriteMermaid(w io.Writer) error { return d.graph.WriteMermaid(w) }

// Diagram draws the updates from a version, the newest first: conditional updates dashed,
// with their risks. The error is a *VersionError.
func (g *Graph) Diagram(from string) (*Diagram, error) {
	u, err := g.Updates(from)
	if err != nil {
		return nil, err
	}
	u.Sort()
	d := &Diagram{graph: diagram.Graph{Name: "Updates from " + u.Current.Version, Rightward: true}}
	d.graph.Nodes = append(d.graph.Nodes, diagram.Node{ID: u.Current.Version, Shape: diagram.Round})
	for _, to := range u.Available {
		d.graph.Nodes = append(d.graph.Nodes, diagram.Node{ID: to.Version})
		d.graph.Edges = append(d.graph.Edges, diagram.Edge{From: u.Current.Version, To: to.Version})
	}
	for _, to := range u.Conditional {
		d.graph.Nodes = append(d.graph.Nodes, diagram.Node{ID: to.Version, Marked: true})
		d.graph.Edges = append(d.graph.Edges, diagram.Edge{From: u.Current.Version, To: to.Version, Label: riskNames(to.Risks), Dashed: true})
	}
	return d, nil
}

// PathDiagram draws paths: each release once, updates with risks dashed.
func PathDiagram(paths []*Path) *Diagram {
	d := &Diagram{graph: diagram.Graph{Rightward: true}}
	if len(paths) > 0 {
		last := paths[0].Updates
		to := paths[0].From.Version
		if len(last) > 0 {
			to = last[len(last)-1].Version
		}
		d.graph.Name = fmt.Sprintf("From %s to %s", paths[0].From.Version, to)
	}
	seen := map[string]bool{}
	node := func(version string, shape diagram.Shape) {
		if !seen[version] {
			seen[version] = true
			d.graph.Nodes = append(d.graph.Nodes, diagram.Node{ID: version, Shape: shape})
		}
	}
	for _, p := range paths {
		at := p.From.Version
		node(at, diagram.Round)
		for k, u := range p.Updates {
			shape := diagram.Box
			if k == len(p.Updates)-1 {
				shape = diagram.Hexagon
			}
			node(u.Version, shape)
			if arrow := at + " " + u.Version; !seen[arrow] {
				seen[arrow] = true
				d.graph.Edges = append(d.graph.Edges, diagram.Edge{From: at, To: u.Version, Label: riskNames(u.Risks), Dashed: len(u.Risks) > 0})
			}
			at = u.Version
		}
	}
	return d
}

func riskNames(risks []Risk) string {
	names := make([]string, len(risks))
	for i, r := range risks {
		names[i] = r.Name
	}
	return strings.Join(names, "\n")
}
