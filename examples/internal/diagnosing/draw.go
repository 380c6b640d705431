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

// mostDrawn is how many nodes of a graph are drawn. Of a graph with more of them, those are one that
// wait for the same kinds of things for the same reasons.
const mostDrawn = 60

// Shown is the part of the graph of a diagnosis that its drawing shows: of nodes that are alike the first, and the
// edges between those. Like are the IDs of the nodes that such a first one stands for, itself not included.
type Shown struct {
	diagnosis.Graph
	Like   map[string][]string
	marked map[string]bool // the causes
}

// Show selects what is drawn of a graph.
func Show(g *diagnosis.Graph) *Shown {
	s := &Shown{Like: map[string][]string{}, marked: map[string]bool{}}
	for _, c := range g.Causes() {
		for _, id := range c.Nodes {
			s.marked[id] = true
		}
	}
	of, count := s.same(g)
	if count > mostDrawn {
		of = s.similar(g)
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if first := of[n.ID]; first != n.ID {
			s.Like[first] = append(s.Like[first], n.ID)
			continue
		}
		s.Nodes = append(s.Nodes, *n)
	}
	seen := map[[2]string]bool{}
	for _, e := range g.Edges {
		if e.From, e.To = of[e.From], of[e.To]; e.From == e.To {
			continue
		}
		pair := [2]string{e.From, e.To}
		if !seen[pair] {
			seen[pair] = true
			s.Edges = append(s.Edges, e)
		}
	}
	s.Normal()
	return s
}

// Drawing is the graph of a diagnosis as a picture: causes are marked, what is not certain is
// dashed, and nodes that are alike are one, with their number.
func Drawing(g *diagnosis.Graph) *diagram.Graph { return Show(g).Drawing() }

// Drawing is the picture.
func (s *Shown) Drawing() *diagram.Graph {
	out := &diagram.Graph{Name: "What waits for what", Rightward: true}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		label := n.Says
		if more := len(s.Like[n.ID]); more > 0 {
			label += fmt.Sprintf("\n(and %s like it)", words.Count(more, "other", "others"))
		}
		if s.marked[n.ID] {
			label = "CAUSE\n" + label
		}
		out.Nodes = append(out.Nodes, diagram.Node{ID: n.ID, Label: label, Marked: s.marked[n.ID], Key: "wait:" + n.ID})
	}
	for _, e := range s.Edges {
		out.Edges = append(out.Edges, diagram.Edge{From: e.From, To: e.To, Dashed: e.Sure != diagnosis.Seen})
	}
	return out
}

// kind is what nodes that are alike have in common, apart from their neighbours.
func (s *Shown) kind(n *diagnosis.Node) string {
	return fmt.Sprintf("%s\x01%s\x01%s\x01%t", n.Kind, n.Reason, n.State, s.marked[n.ID])
}

// same returns for each node the first of those that are like it, with the same neighbours, and
// how many of these first ones there are. What becomes alike by that is found in turn.
func (s *Shown) same(g *diagnosis.Graph) (of map[string]string, count int) {
	of = make(map[string]string, len(g.Nodes))
	for i := range g.Nodes {
		of[g.Nodes[i].ID] = g.Nodes[i].ID
	}
	for range 4 {
		now, n := s.grouped(g, of)
		if n == count {
			break
		}
		of, count = now, n
	}
	return of, count
}

// similar returns for each node the first of those that are like it, with the same kinds of neighbours,
// and those in turn, as far as at most mostDrawn are left.
func (s *Shown) similar(g *diagnosis.Graph) map[string]string {
	of, first := make(map[string]string, len(g.Nodes)), map[string]string{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		kind := s.kind(n)
		first[kind] = cmp.Or(first[kind], n.ID)
		of[n.ID] = first[kind]
	}
	for count := len(first); ; {
		finer, n := s.grouped(g, of)
		if n > mostDrawn || n == count {
			return of
		}
		of, count = finer, n
	}
}

// grouped returns for each node the first of those that are of its kind, and whose neighbours
// are in the same groups, and how many of these there are.
func (s *Shown) grouped(g *diagnosis.Graph, of map[string]string) (now map[string]string, count int) {
	from, to := map[string][]string{}, map[string][]string{}
	for _, e := range g.Edges {
		to[e.From] = append(to[e.From], of[e.To])
		from[e.To] = append(from[e.To], of[e.From])
	}
	list := func(ids []string) string {
		slices.Sort(ids)
		return strings.Join(slices.Compact(ids), "\x00")
	}
	now, first := make(map[string]string, len(of)), map[string]string{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		key := s.kind(n) + "\x01" + list(to[n.ID]) + "\x01" + list(from[n.ID])
		first[key] = cmp.Or(first[key], n.ID)
		now[n.ID] = first[key]
	}
	return now, len(first)
}
