package catalog

// Cyclic reports whether updates form a cycle of two bundles or more. The time is
// proportional to what the entries state, times a logarithm.
func (g *Graph) Cyclic() bool {
	// The vertexes of the tree of ranges join the nodes: a node leads to its leaf, a vertex
	// to the one above it and to the entries that accept all below it. Then two nodes are in
	// a cycle exactly if they are in one component.
	t := &tarjan{g: g, nodes: len(g.nodes)}
	t.index = make([]int, t.nodes+len(g.tree))
	t.low = make([]int, len(t.index))
	t.on = make([]bool, len(t.index))
	for i := range g.nodes {
		if t.index[i] == 0 && t.visit(i) {
			return true
		}
	}
	return false
}

// tarjan finds strongly connected components, until one has two nodes.
type tarjan struct {
	g          *Graph
	nodes      int // vertexes from here on are those of the tree
	next       int
	index, low []int // index is 0 for what was not visited
	on         []bool
	stack      []int
}

func (t *tarjan) visit(v int) (found bool) {
	t.next++
	t.index[v], t.low[v], t.on[v] = t.next, t.next, true
	t.stack = append(t.stack, v)
	t.leads(v, func(w int) bool {
		switch {
		case t.index[w] == 0:
			if found = t.visit(w); found {
				return false
			}
			t.low[v] = min(t.low[v], t.low[w])
		case t.on[w]:
			t.low[v] = min(t.low[v], t.index[w])
		}
		return true
	})
	if found || t.low[v] != t.index[v] {
		return found
	}
	members := 0
	for {
		w := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.on[w] = false
		if w < t.nodes {
			members++
		}
		if w == v {
			return members > 1
		}
	}
}

// leads calls visit for what a vertex leads to, until it returns false.
func (t *tarjan) leads(v int, visit func(w int) bool) {
	if v < t.nodes {
		for _, l := range t.g.nodes[v].out {
			if !visit(int(l.to)) {
				return
			}
		}
		if len(t.g.order) > 0 && t.g.rank[v] >= 0 {
			visit(t.nodes + int(t.g.rank[v]) + len(t.g.order))
		}
		return
	}
	at := v - t.nodes
	for _, to := range t.g.tree[at] {
		if !visit(int(to)) {
			return
		}
	}
	if at > 1 {
		visit(t.nodes + at/2)
	}
}
