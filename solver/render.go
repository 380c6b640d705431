package solver

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/diagram"
	"github.com/fairlead/fairlead/internal/words"
)

// linesMin is how many lines each conflict gets if there are many.
const linesMin = 5

// WriteText writes the explanation for human readers, in as many lines as the
// options allow (see [ExplainOptions]). Trees that are cut short say so. The
// error is that of w.
func (x *Explanation) WriteText(w io.Writer) error {
	help := x.help()
	budget := x.linesMax - len(help)
	var out []string
	for i, c := range x.Conflicts {
		left := len(x.Conflicts) - i
		if i > 0 && left > 1 && budget < linesMin+1 {
			out = append(out, fmt.Sprintf("and %d more conflicts", left))
			break
		}
		lines := c.text(i, len(x.Conflicts), max(budget/left, linesMin))
		out = append(out, lines...)
		budget -= len(lines)
	}
	out = append(out, help...)
	_, err := words.Fprintf(w, "%s\n", words.Text(words.JoinLines(out)))
	return err
}

// String returns what WriteText writes.
func (x *Explanation) String() string {
	var out strings.Builder
	x.WriteText(&out) // a Builder does not fail
	return out.String()
}

func (x *Explanation) help() []string {
	if len(x.Fixes) == 0 {
		return nil
	}
	lines := []string{"What would help:"}
	for i, f := range x.Fixes {
		mark := "- "
		if i > 0 {
			mark = "- or "
		}
		advice := f.Advice
		if len(advice) > listMax+1 {
			advice = append(slices.Clone(advice[:listMax]), fmt.Sprintf("%d more such things", len(advice)-listMax))
		}
		text := mark + strings.Join(advice, ", and ")
		if !f.Minimal {
			text += " (not all of this may be needed)"
		}
		lines = append(lines, text)
	}
	return lines
}

func (c Conflict) text(i, n, budget int) []string {
	head := "These cannot be met together"
	if n > 1 {
		head = fmt.Sprintf("Conflict %d of %d, these cannot be met together", i+1, n)
	}
	if !c.Minimal {
		head += ", though not all of them may matter"
	}
	head += ":"
	return tell(head, c.Tree, budget)
}

// tell returns the tree below a headline, as deep and then as wide as fits.
func tell(head string, tree []*Statement, budget int) []string {
	for depth := budget; depth >= 0; depth-- {
		for _, width := range []int{1 << 30, 12, 6, 3, 2, 1} {
			if lines := draw(nil, "", tree, depth, width, true); len(lines) < budget {
				return append([]string{head}, lines...)
			}
		}
	}
	return []string{head}
}

// draw writes the statements as a tree, with at most width statements per
// level, and depth levels below this one.
func draw(lines []string, indent string, all []*Statement, depth, width int, top bool) []string {
	hidden := 0
	if len(all) > width {
		hidden = len(all) - width
		all = all[:width]
	}
	for i, s := range all {
		mark, below := "├─ ", "│  "
		if i == len(all)-1 && hidden == 0 {
			mark, below = "└─ ", "   "
		}
		if top {
			mark, below = "", ""
		}
		text := strings.Join(strings.Fields(s.Text), " ")
		if depth == 0 && len(s.Children) > 0 {
			text += fmt.Sprintf(" (and %d more lines)", size(s.Children))
			lines = append(lines, indent+mark+text)
			continue
		}
		lines = append(lines, indent+mark+text)
		lines = draw(lines, indent+below, s.Children, depth-1, width, false)
	}
	if hidden > 0 {
		mark := "└─ "
		if top {
			mark = ""
		}
		lines = append(lines, fmt.Sprintf("%s%s... and %d more", indent, mark, hidden))
	}
	return lines
}

func size(all []*Statement) int {
	n := len(all)
	for _, s := range all {
		n += size(s.Children)
	}
	return n
}

// The JSON form of an explanation.
type (
	jsonExplanation struct {
		Conflicts []jsonConflict `json:"conflicts"`
		Fixes     []jsonFix      `json:"fixes"`
	}
	jsonConflict struct {
		Core    []jsonConstraint `json:"core"`
		Minimal bool             `json:"minimal"`
		Tree    []jsonStatement  `json:"tree"`
	}
	jsonConstraint struct {
		ID   int    `json:"id"`
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	jsonStatement struct {
		Text        string          `json:"text"`
		Constraints []int           `json:"constraints"`
		Subjects    []string        `json:"subjects,omitempty"`
		Children    []jsonStatement `json:"children,omitempty"`
	}
	jsonFix struct {
		Advice  []string `json:"advice"`
		Drop    []int    `json:"drop"`
		Effort  int      `json:"effort"`
		Minimal bool     `json:"minimal"`
		Selects []string `json:"selects"`
	}
)

// WriteJSON writes the whole explanation as JSON, indented by tabs. The error is
// that of w.
func (x *Explanation) WriteJSON(w io.Writer) error {
	out := jsonExplanation{Conflicts: []jsonConflict{}, Fixes: []jsonFix{}}
	for _, c := range x.Conflicts {
		j := jsonConflict{Minimal: c.Minimal, Tree: x.jsonTree(c.Tree)}
		for _, k := range c.Core {
			j.Core = append(j.Core, jsonConstraint{k.ID, k.Kind.String(), k.String()})
		}
		out.Conflicts = append(out.Conflicts, j)
	}
	for _, f := range x.Fixes {
		j := jsonFix{Advice: f.Advice, Drop: ids(f.Drop), Effort: f.Effort, Minimal: f.Minimal, Selects: []string{}}
		for v := range f.Solution.Selected() {
			j.Selects = append(j.Selects, x.problem.Name(v))
		}
		out.Fixes = append(out.Fixes, j)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	return enc.Encode(out)
}

func (x *Explanation) jsonTree(all []*Statement) []jsonStatement {
	var out []jsonStatement
	for _, s := range all {
		j := jsonStatement{Text: s.Text, Constraints: ids(s.Constraints), Children: x.jsonTree(s.Children)}
		for _, v := range s.Subjects {
			j.Subjects = append(j.Subjects, x.problem.Name(v))
		}
		out = append(out, j)
	}
	return out
}

func ids(all []Constraint) []int {
	out := make([]int, len(all))
	for i, c := range all {
		out[i] = c.ID
	}
	return out
}

// WriteDOT writes the trees of the conflicts as a graph for Graphviz. The error
// is that of w.
func (x *Explanation) WriteDOT(w io.Writer) error { return x.graph().WriteDOT(w) }

// WriteMermaid writes the trees of the conflicts as a Mermaid flowchart. The
// error is that of w.
func (x *Explanation) WriteMermaid(w io.Writer) error { return x.graph().WriteMermaid(w) }

func (x *Explanation) graph() *diagram.Graph {
	g := &diagram.Graph{Name: "conflicts"}
	var add func(all []*Statement, parent string)
	add = func(all []*Statement, parent string) {
		for _, s := range all {
			n := diagram.Node{ID: fmt.Sprintf("s%d", len(g.Nodes)), Label: s.Text}
			switch {
			case parent == "":
				n.Shape = diagram.Round
			case len(s.Children) == 0:
				n.Shape = diagram.Hexagon
			}
			g.Nodes = append(g.Nodes, n)
			if parent != "" {
				g.Edges = append(g.Edges, diagram.Edge{From: parent, To: n.ID})
			}
			add(s.Children, n.ID)
		}
	}
	for _, c := range x.Conflicts {
		add(c.Tree, "")
	}
	return g
}
