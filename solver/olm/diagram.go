package olm

import (
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/diagram"
)

// WriteDOT writes the answer as a graph in the DOT language of Graphviz: which
// subscription is served by which operator, and which operator requires which.
// Installed operators that are replaced are dashed; a channel head that could
// not be chosen is marked.
func (res *Resolution) WriteDOT(w io.Writer) error { return res.graph().WriteDOT(w) }

// WriteMermaid writes the graph of WriteDOT as a Mermaid flowchart.
func (res *Resolution) WriteMermaid(w io.Writer) error { return res.graph().WriteMermaid(w) }

// WriteDOT writes the explanation as a graph in the DOT language, from what
// cannot be satisfied to the obstacles; advice is marked.
func (x *Explanation) WriteDOT(w io.Writer) error { return x.graph().WriteDOT(w) }

// WriteMermaid writes the graph of WriteDOT as a Mermaid flowchart.
func (x *Explanation) WriteMermaid(w io.Writer) error { return x.graph().WriteMermaid(w) }

// WriteDOT writes the path as a graph in the DOT language: a box for each hop,
// and an arrow for each update.
func (p *Path) WriteDOT(w io.Writer) error { return p.graph().WriteDOT(w) }

// WriteMermaid writes the graph of WriteDOT as a Mermaid flowchart.
func (p *Path) WriteMermaid(w io.Writer) error { return p.graph().WriteMermaid(w) }

// drawing is a graph to which each node is added once.
type drawing struct {
	diagram.Graph
	has map[string]bool
}

func (d *drawing) node(n diagram.Node) {
	if d.has == nil {
		d.has = make(map[string]bool)
	}
	if !d.has[n.ID] {
		d.has[n.ID] = true
		d.Nodes = append(d.Nodes, n)
	}
}

func (res *Resolution) graph() *diagram.Graph {
	d := &drawing{Graph: diagram.Graph{Rightward: true}}
	for _, o := range res.Subscriptions {
		d.node(diagram.Node{ID: "subscription " + o.Subscription, Shape: diagram.Round})
	}
	for _, c := range res.Chosen {
		d.node(diagram.Node{ID: c.Name, Label: fmt.Sprintf("%s\nchannel %s of catalog %s", c.Name, c.Channel, c.Source.Name)})
	}
	for _, o := range res.Subscriptions {
		if o.Blocked != nil {
			continue
		}
		d.node(diagram.Node{ID: o.Operator, Label: o.Operator + "\ninstalled"})
		d.Edges = append(d.Edges, diagram.Edge{From: "subscription " + o.Subscription, To: o.Operator})
		if o.Head == "" || o.Head == o.Operator || len(o.Why) == 0 {
			continue
		}
		d.node(diagram.Node{ID: o.Head, Label: o.Head + "\nnot chosen", Marked: true})
		d.Edges = append(d.Edges, diagram.Edge{From: "subscription " + o.Subscription, To: o.Head, Label: folded(o.Why[0]), Dashed: true})
	}
	for _, c := range res.Chosen {
		if c.Updates != "" {
			d.node(diagram.Node{ID: c.Updates, Label: c.Updates + "\ninstalled", Shape: diagram.Dashed})
			d.Edges = append(d.Edges, diagram.Edge{From: c.Updates, To: c.Name, Label: "update", Dashed: true})
		}
		for _, r := range c.RequiredBy {
			d.node(diagram.Node{ID: r.Operator, Label: r.Operator + "\ninstalled"})
			d.Edges = append(d.Edges, diagram.Edge{From: r.Operator, To: c.Name, Label: folded(r.Text)})
		}
	}
	return &d.Graph
}

func (x *Explanation) graph() *diagram.Graph {
	g := &diagram.Graph{}
	var walk func(all []Finding, parent string)
	walk = func(all []Finding, parent string) {
		for _, f := range all {
			id := fmt.Sprint(len(g.Nodes))
			shape := diagram.Box
			if parent == "" {
				shape = diagram.Round
			}
			g.Nodes = append(g.Nodes, diagram.Node{ID: id, Label: folded(f.Text), Shape: shape})
			if parent != "" {
				g.Edges = append(g.Edges, diagram.Edge{From: parent, To: id})
			}
			walk(f.Because, id)
		}
	}
	walk(x.Findings, "")
	for _, a := range x.Advice {
		g.Nodes = append(g.Nodes, diagram.Node{ID: fmt.Sprint(len(g.Nodes)), Label: folded("To do: " + a), Shape: diagram.Hexagon, Marked: true})
	}
	return g
}

func (p *Path) graph() *diagram.Graph {
	d := &drawing{Graph: diagram.Graph{Rightward: true}}
	first := make(map[string]bool)
	for _, h := range p.Hops {
		for _, c := range h.Chosen {
			if c.Updates != "" && !first[c.Updates] {
				d.node(diagram.Node{ID: c.Updates, Group: "installed", Shape: diagram.Dashed})
			}
			first[c.Name] = true
		}
	}
	for i, h := range p.Hops {
		for _, c := range h.Chosen {
			d.node(diagram.Node{ID: c.Name, Group: fmt.Sprintf("hop %d", i+1)})
			if c.Updates != "" {
				d.Edges = append(d.Edges, diagram.Edge{From: c.Updates, To: c.Name})
			}
		}
	}
	return &d.Graph
}

// folded wraps a text to lines that fit a box.
func folded(text string) string {
	const width = 48
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
