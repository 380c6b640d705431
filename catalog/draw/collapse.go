package draw

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/words"
)

// shortestRun is how many consecutive versions are drawn as one if there is not
// enough room.
const shortestRun = 3

// runs groups the columns of a view.
type runs struct {
	columns [][]int
	heads   []int // of each group: how many lanes have a head in it
}

// runs returns the columns in groups: those of a run of unremarkable versions
// together, others alone.
func (v *packageView) runs() *runs {
	var groups [][]int
	lanes := v.indexed()
	for c := range v.columns {
		last := len(groups) - 1
		if last >= 0 && joined(lanes, c-1, c) {
			groups[last] = append(groups[last], c)
		} else {
			groups = append(groups, []int{c})
		}
	}
	r := &runs{}
	for _, g := range groups {
		if len(g) >= shortestRun {
			r.columns = append(r.columns, g)
			continue
		}
		for _, c := range g {
			r.columns = append(r.columns, []int{c})
		}
	}
	heads := make([]int, len(v.columns))
	for _, lane := range v.lanes {
		for _, n := range lane.nodes {
			if n.head {
				heads[n.column]++
			}
		}
	}
	for _, g := range r.columns {
		n := 0
		for _, c := range g {
			n += heads[c]
		}
		r.heads = append(r.heads, n)
	}
	return r
}

// join joins neighbouring groups until there are at most most: first those
// without heads and with few versions.
func (r *runs) join(most int) {
	all := 0
	for _, g := range r.columns {
		all += len(g)
	}
	for len(r.columns) > most {
		best, bestCost := 0, -1
		for i := 0; i+1 < len(r.columns); i++ {
			cost := len(r.columns[i]) + len(r.columns[i+1]) + all*(r.heads[i]+r.heads[i+1])
			if bestCost < 0 || cost < bestCost {
				best, bestCost = i, cost
			}
		}
		r.columns[best] = append(r.columns[best], r.columns[best+1]...)
		r.heads[best] += r.heads[best+1]
		r.columns = slices.Delete(r.columns, best+1, best+2)
		r.heads = slices.Delete(r.heads, best+1, best+2)
	}
}

// indexedLane is a lane whose nodes are found by their columns, and edges by where they
// begin.
type indexedLane struct {
	*laneView
	byColumn []int   // the node of each column, or -1
	starts   [][]int // of each node: the edges that begin there, in their order
}

func (v *packageView) indexed() []indexedLane {
	lanes := make([]indexedLane, len(v.lanes))
	for i := range v.lanes {
		lane := indexedLane{laneView: &v.lanes[i], byColumn: slices.Repeat([]int{-1}, len(v.columns)), starts: make([][]int, len(v.lanes[i].nodes))}
		for n := range lane.nodes {
			lane.byColumn[lane.nodes[n].column] = n
		}
		for e := range lane.edges {
			for _, from := range lane.edges[e].from {
				lane.starts[from] = append(lane.starts[from], e)
			}
		}
		lanes[i] = lane
	}
	return lanes
}

// joined reports whether two neighbouring columns can be drawn as one: they are
// in the same lanes, neither is a head, in each lane the second updates the
// first, and whatever else updates one of them updates both.
func joined(lanes []indexedLane, a, b int) bool {
	for i := range lanes {
		lane := &lanes[i]
		x, y := lane.byColumn[a], lane.byColumn[b]
		if (x < 0) != (y < 0) {
			return false
		}
		if x < 0 {
			continue
		}
		m, n := lane.nodes[x], lane.nodes[y]
		if m.head || n.head || m.skipped != n.skipped || m.deprecated != n.deprecated {
			return false
		}
		if follows, ok := lane.alike(x, y); !ok || !follows && !m.skipped {
			return false
		}
	}
	return true
}

// alike reports whether what updates one of two nodes updates both, but for an update
// between them and one by which something else replaces the second; follows, whether the
// second replaces the first.
func (lane *indexedLane) alike(x, y int) (follows, ok bool) {
	ok = true
	see := func(at int, first bool) {
		e := &lane.edges[at]
		switch {
		case first && e.to == y && e.kind == catalog.EdgeReplaces:
			follows = true
		case e.to == x || e.to == y:
		case e.kind != catalog.EdgeReplaces || first:
			ok = false
		}
	}
	a, b := lane.starts[x], lane.starts[y]
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			see(a[0], true)
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			see(b[0], false)
			b = b[1:]
		default: // both
			if e := &lane.edges[a[0]]; e.to == y && e.kind == catalog.EdgeReplaces {
				follows = true
			}
			a, b = a[1:], b[1:]
		}
	}
	return follows, ok
}

// grouped returns the view with one column for each group of columns. The error is that of ctx.
func (v *packageView) grouped(ctx context.Context, groups [][]int) (*packageView, error) {
	to := make([]int, len(v.columns))
	small := &packageView{name: v.name, deprecated: v.deprecated}
	for i, g := range groups {
		for _, c := range g {
			to[c] = i
		}
		var labels []string
		for _, c := range g {
			labels = append(labels, v.columns[c])
		}
		small.columns = append(small.columns, labelOf(labels))
	}
	for i := range v.lanes {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		small.lanes = append(small.lanes, v.lanes[i].grouped(to))
	}
	return small, nil
}

// labelOf returns the label of a column or a node with these versions: the first
// and the last where there is room for both, else their number.
func labelOf(versions []string) string {
	if len(versions) == 1 {
		return versions[0]
	}
	if span := versions[0] + "–" + versions[len(versions)-1]; utf8.RuneCountInString(span) <= svgMinLabel {
		return span
	}
	return count(len(versions))
}

func count(n int) string { return strconv.Itoa(n) + " versions" }

// grouped returns the lane with the nodes of a column as one node, and each
// update between columns once.
func (lane *laneView) grouped(to []int) laneView {
	small := *lane
	small.nodes, small.edges = nil, nil
	index := make([]int, len(lane.nodes))
	members := [][]nodeView{}
	for i, n := range lane.nodes {
		if k := len(small.nodes); k > 0 && small.nodes[k-1].column == to[n.column] {
			members[k-1] = append(members[k-1], n)
		} else {
			single := n
			single.column = to[n.column]
			small.nodes, members = append(small.nodes, single), append(members, []nodeView{n})
		}
		index[i] = len(small.nodes) - 1
	}
	for k, list := range members {
		if len(list) > 1 {
			small.nodes[k] = joinNodes(list, small.nodes[k].column)
		}
	}
	seen := map[string]int{}
	var texts [][]string // of each edge
	for _, e := range lane.edges {
		edge := edgeView{kind: e.kind, to: index[e.to], describe: e.describe}
		for _, i := range e.from {
			if f := index[i]; f != edge.to && !slices.Contains(edge.from, f) {
				edge.from = append(edge.from, f)
			}
		}
		if len(edge.from) == 0 && (len(e.from) > 0 || len(members[edge.to]) > 1) {
			continue // it is within the column
		}
		key := fmt.Sprint(edge.kind, edge.to)
		if edge.kind == catalog.EdgeReplaces {
			key += fmt.Sprint(edge.from)
		}
		if at, ok := seen[key]; ok {
			for _, f := range edge.from {
				if old := &small.edges[at]; !slices.Contains(old.from, f) {
					old.from = append(old.from, f)
				}
			}
			texts[at] = append(texts[at], edge.describe)
			continue
		}
		seen[key] = len(small.edges)
		small.edges, texts = append(small.edges, edge), append(texts, []string{edge.describe})
	}
	for i := range small.edges {
		e := &small.edges[i]
		slices.Sort(e.from)
		e.describe = words.Shorten(strings.Join(texts[i], "; "), 400)
	}
	return small
}

// joinNodes returns one node for several.
func joinNodes(list []nodeView, column int) nodeView {
	one := nodeView{name: list[0].name, column: column, skipped: true, deprecated: true}
	var names, labels []string
	for _, n := range list {
		names, labels = append(names, n.name), append(labels, n.label)
	}
	one.label = labelOf(labels)
	for _, n := range list {
		if n.head { // users want to know which
			one.label = n.label + " +" + strconv.Itoa(len(list)-1)
		}
		one.head = one.head || n.head
		one.skipped = one.skipped && n.skipped
		one.deprecated = one.deprecated && n.deprecated
	}
	one.describe = count(len(list)) + ": " + words.First(names, 40)
	return one
}

// byVersion compares names, with the numbers in them as numbers: 3.6 comes
// before 3.10.
func byVersion(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		switch {
		case x > 0 && y > 0:
			m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if len(m) != len(n) {
				return len(m) - len(n)
			}
			if c := strings.Compare(m, n); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
		case a[0] != b[0]:
			return int(a[0]) - int(b[0])
		default:
			a, b = a[1:], b[1:]
		}
	}
	return len(a) - len(b)
}

// digits returns how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
