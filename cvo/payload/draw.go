package payload

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/diagram"
)

// WriteDOT draws the order for Graphviz: a box for each node with a line for
// each task, as the reference draws it, and the critical path in orange.
func (p *Plan) WriteDOT(w io.Writer) error { return p.diagram(0).WriteDOT(w) }

// mermaidTasks is how many tasks a node lists in Mermaid, which draws at most
// 50,000 letters.
const mermaidTasks = 2

// WriteMermaid draws the order as a Mermaid flowchart: a box for each node with
// its component and first tasks, and the critical path in orange.
func (p *Plan) WriteMermaid(w io.Writer) error { return p.diagram(mermaidTasks).WriteMermaid(w) }

// diagram draws the graph; each node lists at most that many tasks, 0 for all.
func (p *Plan) diagram(most int) *diagram.Graph {
	critical := p.critical()
	d := &diagram.Graph{Name: "payload"}
	for i := range p.Graph.Nodes {
		n := &p.Graph.Nodes[i]
		box := diagram.Node{ID: strconv.Itoa(i), Label: "no manifests", Shape: diagram.Dashed}
		if n.Count > 0 {
			box.Label, box.Shape, box.Marked = p.label(n, most), diagram.Box, critical[n.First]
		}
		d.Nodes = append(d.Nodes, box)
		for _, to := range n.Out {
			d.Edges = append(d.Edges, diagram.Edge{From: strconv.Itoa(i), To: strconv.Itoa(to)})
		}
	}
	return d
}

// critical returns, for each task, whether it is on the critical path.
func (p *Plan) critical() []bool {
	on := make([]bool, len(p.Graph.Tasks))
	for _, t := range p.Critical {
		on[t] = true
	}
	return on
}

func (p *Plan) label(n *Node, most int) string {
	var lines []string
	if most > 0 {
		lines = append(lines, p.Graph.Title(n))
	}
	for t := n.First; t < n.First+n.Count; t++ {
		if most > 0 && t-n.First == most && n.Count > most+1 {
			lines = append(lines, fmt.Sprintf("and %d more", n.Count-most))
			break
		}
		lines = append(lines, p.Graph.Label(t))
	}
	return strings.Join(lines, "\n")
}

// Label returns the name of a task in messages: deployment "ns/name" (3 of 12).
func (g *Graph) Label(task int) string { return g.Tasks[task].Label(task+1, len(g.Tasks)) }

// Title returns the title of a node: the runlevels and components of its first
// and last task, as in "10 config-operator". A node without tasks has none.
func (g *Graph) Title(n *Node) string {
	if n.Count == 0 {
		return ""
	}
	name := func(t int) string {
		m := g.Tasks[t]
		if m.Name.IsZero() {
			return m.File[strings.LastIndexByte(m.File, '/')+1:]
		}
		return m.Name.Runlevel + " " + m.Name.Component
	}
	first, last := name(n.First), name(n.First+n.Count-1)
	if first == last {
		return first
	}
	return first + " to " + last
}

// WriteSVG draws the schedule: a row for each node, a bar for each task, and the
// critical path in orange.
func (p *Plan) WriteSVG(w io.Writer) error {
	critical := p.critical()
	chart := diagram.Gantt{Title: fmt.Sprintf("%d tasks, %d at a time, in about %s", len(p.Graph.Tasks), p.Schedule.Workers, p.Schedule.Total.Round(1e9)), Keys: []diagram.Key{
		{Label: "manifest", Tone: 0}, {Label: "operator that is waited for", Tone: 1}, {Label: "on the critical path", Marked: true},
	}}
	slots := make([]Slot, len(p.Graph.Tasks))
	for _, s := range p.Schedule.Slots {
		slots[s.Task] = s
	}
	for i := range p.Graph.Nodes {
		n := &p.Graph.Nodes[i]
		if n.Count == 0 {
			continue
		}
		row := diagram.Row{Label: p.Graph.Title(n)}
		for t := n.First; t < n.First+n.Count; t++ {
			row.Bars = append(row.Bars, diagram.Bar{
				Start: slots[t].Start, End: slots[t].End, Label: p.Graph.Label(t), Tone: tone(p.Graph.Tasks[t]), Marked: critical[t],
			})
		}
		chart.Rows = append(chart.Rows, row)
	}
	return chart.WriteSVG(w)
}

// tone gives operators another colour than manifests.
func tone(m *Manifest) int {
	if m.ClusterOperator() {
		return 1
	}
	return 0
}
