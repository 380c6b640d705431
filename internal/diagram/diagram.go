// Package diagram writes graphs as text for other tools to draw: DOT for
// Graphviz, Mermaid for Markdown pages, and SVG images. It also writes Gantt charts,
// lanes of versions and strips of nodes as SVG images.
//
// A graph is written in the order in which its nodes and edges are listed, so
// that equal graphs give equal texts. Identifiers and labels may contain any
// text: each writer quotes them by the rules of its language.
package diagram

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/words"
)

// A Graph is a directed graph. The zero Graph is empty.
type Graph struct {
	// Name is written as the title of the graph; it may be empty.
	Name string
	// Rightward lays the graph out from left to right, not from top to bottom.
	Rightward bool
	// Nodes are written in this order.
	Nodes []Node
	// Edges are written in this order, after the nodes.
	Edges []Edge
}

// A Node is a node of a Graph.
type Node struct {
	// ID identifies the node; edges refer to it. No two are equal.
	ID string
	// Label is what is shown, lines separated by newlines; empty means the ID.
	Label string
	// Shape is how the node is drawn.
	Shape Shape
	// Group is the title of the box that is drawn around this node and its
	// neighbours in the list with the same Group; empty means no box.
	Group string
	// Marked draws the node on an orange background, for what should be
	// avoided.
	Marked bool
	// Key is how a page finds the node; it may be empty.
	Key string
}

// Shape is how a node is drawn.
type Shape uint8

// The shapes.
const (
	Box     Shape = iota // a rectangle, for most nodes
	Round                // a rectangle with round corners, for a beginning
	Hexagon              // a hexagon, for what should stand out
	Dashed               // a dashed rectangle, for what is absent or past
)

// An Edge is an arrow between two nodes.
type Edge struct {
	// From and To are the IDs of nodes.
	From, To string
	// Label is what is shown beside the arrow; it may be empty.
	Label string
	// Dashed draws the arrow with dashes.
	Dashed bool
}

// number returns the position of every node, by ID, or what is wrong with the
// graph.
func (g *Graph) number() (map[string]int, error) {
	at := make(map[string]int, len(g.Nodes))
	for i, n := range g.Nodes {
		if _, twice := at[n.ID]; twice {
			return nil, fmt.Errorf("diagram: node %q is listed twice", n.ID)
		}
		at[n.ID] = i
	}
	for _, e := range g.Edges {
		for _, id := range []string{e.From, e.To} {
			if _, ok := at[id]; !ok {
				return nil, fmt.Errorf("diagram: edge from %q to %q: there is no node %q", e.From, e.To, id)
			}
		}
	}
	return at, nil
}

func (n Node) label() string {
	if n.Label == "" {
		return n.ID
	}
	return n.Label
}

// WriteDOT writes the graph in the DOT language of Graphviz. The error is that
// of w, or says which node or edge is wrong.
func (g *Graph) WriteDOT(w io.Writer) error {
	if _, err := g.number(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph %s {\n", dotQuote(g.Name))
	if g.Rightward {
		out.WriteString("\trankdir=LR;\n")
	}
	out.WriteString("\tnode [shape=box];\n")
	group, groups := "", 0
	for _, n := range g.Nodes {
		if n.Group != group {
			if group != "" {
				out.WriteString("\t}\n")
			}
			if n.Group != "" {
				fmt.Fprintf(out, "\tsubgraph cluster_%d {\n\tlabel=%s;\n", groups, dotQuote(n.Group))
				groups++
			}
			group = n.Group
		}
		fmt.Fprintf(out, "\t%s [label=%s%s];\n", dotQuote(n.ID), dotQuote(n.label()), dotNode(n))
	}
	if group != "" {
		out.WriteString("\t}\n")
	}
	for _, e := range g.Edges {
		fmt.Fprintf(out, "\t%s -> %s%s;\n", dotQuote(e.From), dotQuote(e.To), dotEdge(e))
	}
	out.WriteString("}\n")
	return out.Flush()
}

// dotNode returns the attributes of a node other than its label.
func dotNode(n Node) string {
	attributes, style := "", ""
	switch n.Shape {
	case Round:
		style = "rounded"
	case Hexagon:
		attributes = ", shape=hexagon"
	case Dashed:
		style = "dashed"
	}
	if n.Marked {
		attributes += ", fillcolor=orange"
		style = strings.TrimPrefix(style+",filled", ",")
	}
	switch {
	case strings.Contains(style, ","):
		attributes += ", style=" + dotQuote(style)
	case style != "":
		attributes += ", style=" + style
	}
	return attributes
}

func dotEdge(e Edge) string {
	var attributes []string
	if e.Label != "" {
		attributes = append(attributes, "label="+dotQuote(e.Label))
	}
	if e.Dashed {
		attributes = append(attributes, "style=dashed")
	}
	if attributes == nil {
		return ""
	}
	return " [" + strings.Join(attributes, ", ") + "]"
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`, "\x00", "\uFFFD")

func dotQuote(s string) string {
	return `"` + dotEscapes.Replace(words.Visible(s)) + `"`
}

// WriteMermaid writes the graph as a Mermaid flowchart. The nodes are called
// n0, n1 and so on in their order, because Mermaid has no quoted identifiers.
// The error is that of w, or says which node or edge is wrong.
func (g *Graph) WriteMermaid(w io.Writer) error {
	at, err := g.number()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if g.Name != "" {
		fmt.Fprintf(out, "---\ntitle: %q\n---\n", g.Name) // YAML, which can read Go's quoted strings
	}
	direction := "TD"
	if g.Rightward {
		direction = "LR"
	}
	fmt.Fprintf(out, "flowchart %s\n", direction)
	group, groups := "", 0
	for i, n := range g.Nodes {
		if n.Group != group {
			if group != "" {
				out.WriteString("    end\n")
			}
			if n.Group != "" {
				fmt.Fprintf(out, "    subgraph g%d[%s]\n", groups, mermaidQuote(n.Group))
				groups++
			}
			group = n.Group
		}
		shape := mermaidShapes[n.Shape]
		fmt.Fprintf(out, "    n%d%s%s%s\n", i, shape[0], mermaidQuote(n.label()), shape[1])
	}
	if group != "" {
		out.WriteString("    end\n")
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Dashed {
			arrow = "-.->"
		}
		if e.Label != "" {
			arrow += "|" + mermaidQuote(e.Label) + "|"
		}
		fmt.Fprintf(out, "    n%d %s n%d\n", at[e.From], arrow, at[e.To])
	}
	for i, n := range g.Nodes {
		var style []string
		if n.Shape == Dashed {
			style = append(style, "stroke-dasharray: 5 5")
		}
		if n.Marked {
			style = append(style, "fill:orange")
		}
		if len(style) > 0 {
			fmt.Fprintf(out, "    style n%d %s\n", i, strings.Join(style, ","))
		}
	}
	return out.Flush()
}

var mermaidShapes = [...][2]string{Box: {"[", "]"}, Round: {"(", ")"}, Hexagon: {"{{", "}}"}, Dashed: {"[", "]"}}

// mermaidEscapes uses numeric entities, which Mermaid reads within quotes; it
// would also interpret Markdown and HTML there.
var mermaidEscapes = strings.NewReplacer(
	"#", "#35;", `"`, "#34;", "<", "#60;", ">", "#62;", "&", "#38;", "`", "#96;", "*", "#42;", "_", "#95;", `\`, "#92;",
	"\r\n", "<br>", "\n", "<br>", "\r", "<br>", "\x00", "\uFFFD")

func mermaidQuote(s string) string {
	return `"` + mermaidEscapes.Replace(words.Visible(s)) + `"`
}
