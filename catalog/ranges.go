package catalog

import (
	"iter"
	"slices"

	"github.com/fairlead/fairlead/internal/semverx"
)

// ranges are the edges of a graph by skipRange: for each entry, which nodes in the order of
// their versions it accepts. There may be as many edges as pairs of nodes, so they are found
// when they are needed.
type ranges struct {
	order []int32   // nodes whose version is known, by version
	rank  []int32   // of each node: its place in order, or -1
	spans [][]span  // of each entry that has any: the places in order that it accepts
	tree  [][]int32 // a segment tree over order: the entries that accept all places below a vertex
}

// span is the half-open interval of places [lo, hi).
type span struct{ lo, hi int32 }

// rangesOf finds the edges by skipRange into the entries that may be installed.
func rangesOf(g *Graph) (r ranges) {
	for to := range g.entries {
		for _, s := range g.nodes[to].stated {
			if g.nodes[to].installable && s.span != nil {
				if r.rank == nil {
					r = inOrder(g)
				}
				r.add(g, to, s.span)
			}
		}
	}
	return r
}

// inOrder returns ranges without edges.
func inOrder(g *Graph) ranges {
	r := ranges{rank: make([]int32, len(g.nodes)), spans: make([][]span, g.entries)}
	for i := range g.nodes {
		r.rank[i] = -1
		if !g.nodes[i].version.IsZero() {
			r.order = append(r.order, int32(i))
		}
	}
	slices.SortStableFunc(r.order, func(a, b int32) int { return g.nodes[a].version.Compare(g.nodes[b].version) })
	for at, i := range r.order {
		r.rank[i] = int32(at)
	}
	r.tree = make([][]int32, 2*len(r.order))
	return r
}

// add adds the edges of one skipRange of an entry.
func (r *ranges) add(g *Graph, to int, of *semverx.Range) {
	at := func(i int) semverx.Version { return g.nodes[r.order[i]].version }
	of.Spans(len(r.order), at, func(lo, hi int) { r.accept(to, span{int32(lo), int32(hi)}) })
}

func (r *ranges) accept(to int, s span) {
	r.spans[to] = append(r.spans[to], s)
	for lo, hi := int(s.lo)+len(r.order), int(s.hi)+len(r.order); lo < hi; lo, hi = lo/2, hi/2 {
		if lo%2 == 1 {
			r.tree[lo] = append(r.tree[lo], int32(to))
			lo++
		}
		if hi%2 == 1 {
			hi--
			r.tree[hi] = append(r.tree[hi], int32(to))
		}
	}
}

// accepting yields each entry whose skipRange has a node, some of them more than once. Vertexes
// of the tree that are in passed are left out, and added; nil passes none.
func (r *ranges) accepting(node int, passed []bool) iter.Seq[int32] {
	return func(yield func(to int32) bool) {
		if len(r.order) == 0 || r.rank[node] < 0 {
			return
		}
		for v := int(r.rank[node]) + len(r.order); v > 0; v /= 2 {
			if passed != nil {
				if passed[v] {
					continue
				}
				passed[v] = true
			}
			for _, to := range r.tree[v] {
				if !yield(to) {
					return
				}
			}
		}
	}
}

// successors returns the ends of the edges out of a node. The list must not be changed.
func (g *Graph) successors(from int) []link {
	g.sort()
	return g.with(from, g.nodes[from].out, g.accepting(from, nil))
}

// predecessors returns the ends of the edges into a node. The list must not be changed.
func (g *Graph) predecessors(to int) []link {
	g.sort()
	return g.with(to, g.nodes[to].in, func(yield func(from int32) bool) {
		if to < len(g.spans) {
			for _, s := range g.spans[to] {
				for _, from := range g.order[s.lo:s.hi] {
					if !yield(from) {
						return
					}
				}
			}
		}
	})
}

// with returns stored links of a node together with those by skipRange.
func (g *Graph) with(of int, stored []link, ranged iter.Seq[int32]) []link {
	all := stored
	var known map[int32]bool
	for to := range ranged {
		if known == nil {
			known = map[int32]bool{int32(of): true}
			for _, l := range stored {
				known[l.to] = true
			}
			all = slices.Clone(stored)
		}
		if !known[to] {
			known[to] = true
			all = append(all, link{to, EdgeSkipRange})
		}
	}
	if len(all) > len(stored) {
		slices.SortFunc(all, g.compare)
	}
	return all
}

// Ranged returns how many bundles the skipRanges of an entry accept, itself aside, and the
// names of those with the lowest and the highest version. The bundles are not visited one by
// one.
func (g *Graph) Ranged(name string) (n int, lowest, highest string) {
	i, ok := g.index[name]
	if !ok || i >= len(g.spans) {
		return 0, "", ""
	}
	lo, hi := int32(-1), int32(-1)
	for _, s := range g.spans[i] {
		first, last := s.lo, s.hi-1
		n += int(s.hi - s.lo)
		if own := g.rank[i]; own >= s.lo && own < s.hi {
			n--
			if first == own {
				first++
			}
			if last == own {
				last--
			}
		}
		if first > last {
			continue
		}
		if lo < 0 || first < lo {
			lo = first
		}
		hi = max(hi, last)
	}
	if lo < 0 {
		return 0, "", ""
	}
	return n, g.nodes[g.order[lo]].name, g.nodes[g.order[hi]].name
}

// unvisited finds the next place in order that a search has not visited.
type unvisited []int32

func (g *Graph) unvisited() unvisited {
	if len(g.order) == 0 {
		return nil
	}
	u := make(unvisited, len(g.order)+1)
	for i := range u {
		u[i] = int32(i)
	}
	return u
}

func (u unvisited) from(at int32) int32 {
	for u[at] != at {
		u[at] = u[u[at]]
		at = u[at]
	}
	return at
}

// behind calls visit for each node with an edge to an entry, some of them more than once, but
// by skipRange only if the search has not visited it yet.
func (g *Graph) behind(to int32, u unvisited, visit func(from int32)) {
	for _, l := range g.nodes[to].in {
		visit(l.to)
	}
	if int(to) >= len(g.spans) {
		return
	}
	for _, s := range g.spans[to] {
		for at := u.from(s.lo); at < s.hi; at = u.from(at) {
			u[at] = at + 1
			visit(g.order[at])
		}
	}
}
