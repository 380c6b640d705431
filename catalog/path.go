package catalog

import (
	"iter"
	"slices"
)

// Path returns a shortest path of updates between two bundles, and whether there is one.
// Among several it is the one with the highest version at each step, counted from the
// end. From a bundle to itself the path is empty. The time is proportional to the number
// of updates in the channel.
func (g *Graph) Path(from, to string) ([]Edge, bool) {
	source, ok1 := g.index[from]
	target, ok2 := g.index[to]
	if !ok1 || !ok2 {
		return nil, false
	}
	dist := g.distances(target, nil)
	if dist[source] < 0 {
		return nil, false
	}
	var path []Edge
	for at := source; at != target; {
		for _, l := range g.successors(at) {
			if dist[l.to] == dist[at]-1 {
				path = append(path, Edge{g.nodes[at].name, g.nodes[l.to].name, l.kind})
				at = int(l.to)
				break
			}
		}
	}
	return path, true
}

// distances returns for every node the fewest updates to target, or -1,
// without going through the nodes that are blocked.
func (g *Graph) distances(target int, blocked []bool) []int {
	dist := make([]int, len(g.nodes))
	for i := range dist {
		dist[i] = -1
	}
	dist[target] = 0
	u := g.unvisited()
	queue := []int32{int32(target)}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		g.behind(at, u, func(from int32) {
			if dist[from] < 0 && (blocked == nil || !blocked[from]) {
				dist[from] = dist[at] + 1
				queue = append(queue, from)
			}
		})
	}
	return dist
}

// Paths returns all paths of updates between two bundles that visit none twice, trying
// the highest version first at each step. There may be very many: stop when you have
// enough. The time from one path to the next is at most proportional to the updates in
// the channel times the length of the path. The caller owns each slice.
func (g *Graph) Paths(from, to string) iter.Seq[[]Edge] {
	return func(yield func([]Edge) bool) {
		source, ok1 := g.index[from]
		target, ok2 := g.index[to]
		if ok1 && ok2 {
			w := walk{g: g, target: target, visited: make([]bool, len(g.nodes)), yield: yield}
			w.from(source)
		}
	}
}

// walk is a depth-first search for all simple paths. It enters only nodes from which the
// target can be reached without those on the way so far, so it never searches a dead
// end.
type walk struct {
	g       *Graph
	target  int
	visited []bool
	path    []Edge
	yield   func([]Edge) bool
}

// from continues from a node, and reports whether to go on.
func (w *walk) from(at int) bool {
	if at == w.target {
		return w.yield(slices.Clone(w.path))
	}
	w.visited[at] = true
	defer func() { w.visited[at] = false }()
	dist := w.g.distances(w.target, w.visited)
	for _, l := range w.g.successors(at) {
		if dist[l.to] < 0 {
			continue
		}
		w.path = append(w.path, Edge{w.g.nodes[at].name, w.g.nodes[l.to].name, l.kind})
		ok := w.from(int(l.to))
		w.path = w.path[:len(w.path)-1]
		if !ok {
			return false
		}
	}
	return true
}

// Reachable returns the entries to which updates lead from the bundle of that
// name, in any number of steps and without itself: highest version first, then
// by name.
func (g *Graph) Reachable(from string) iter.Seq[string] {
	return func(yield func(string) bool) {
		passed := make([]bool, len(g.tree))
		g.closure([]string{from}, func(at int32, visit func(int32)) {
			for _, l := range g.nodes[at].out {
				visit(l.to)
			}
			for to := range g.accepting(int(at), passed) {
				visit(to)
			}
		}, yield)
	}
}

// Reaching returns the bundles from which updates lead to one of the entries of those
// names, in any number of steps and without these: highest version first, then by name.
func (g *Graph) Reaching(to ...string) iter.Seq[string] {
	return func(yield func(string) bool) {
		u := g.unvisited()
		g.closure(to, func(at int32, visit func(int32)) { g.behind(at, u, visit) }, yield)
	}
}

// closure searches from nodes along the edges that next visits, each once, and yields what
// it finds.
func (g *Graph) closure(names []string, next func(at int32, visit func(int32)), yield func(string) bool) {
	seen := make([]bool, len(g.nodes))
	var stack []int32
	for _, name := range names {
		if i, ok := g.index[name]; ok && !seen[i] {
			seen[i] = true
			stack = append(stack, int32(i))
		}
	}
	var found []link
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		next(at, func(to int32) {
			if !seen[to] {
				seen[to] = true
				found = append(found, link{to: to})
				stack = append(stack, to)
			}
		})
	}
	slices.SortFunc(found, g.compare)
	for _, l := range found {
		if !yield(g.nodes[l.to].name) {
			return
		}
	}
}
