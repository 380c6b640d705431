package diagnosis

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// Cause is what waits for nothing else that is wrong: one node of the graph, or several that
// are alike, or a circle of nodes that wait for each other.
type Cause struct {
	Kind   string `json:"kind"`             // of its nodes; of the first one in a circle
	Reason string `json:"reason"`           // of its nodes, likewise
	Danger bool   `json:"danger,omitempty"` // data is in danger
	// Open is whether it is not known what its nodes wait for.
	Open   bool      `json:"open,omitempty"`
	Circle bool      `json:"circle,omitempty"` // its nodes wait for each other
	Since  time.Time `json:"since,omitzero"`   // the earliest of its nodes; zero if not known
	// Nodes are their IDs: those that hold up most first, then by ID. Never empty.
	Nodes []string `json:"nodes"`
	// Frees are the IDs of what waits for it alone, and Affects of all that waits for it,
	// directly or not; both by ID.
	Frees   []string `json:"frees,omitempty"`
	Affects []string `json:"affects,omitempty"` // see Frees
}

// Causes returns the causes of a graph that is Normal.
//
//  1. Nodes that wait for each other in a circle are one. What waits for nothing else is a
//     cause, unless all of it is Going: that ends by itself, and so does what waits for it.
//  2. A single node that is Waiting for nothing in the graph is an open cause.
//  3. Alike causes are one: single nodes with the same Kind, Reason, State and Alike.
//  4. They are ordered: those that endanger data first, those that are known before open ones,
//     then by how many nodes they free, by how many they affect, by their number of nodes, by
//     time (unknown ones last), and by the first ID.
//
// The cost is linear in the graph, times the number of causes divided by 64.
func (g *Graph) Causes() []Cause {
	s := g.components()
	causes, of := s.sinks()
	words := (len(causes) + 63) / 64
	reach := make([]uint64, words*len(s.members)) // by component, the causes that it waits for
	for c := range s.members {                    // what is waited for has a lower number
		own := reach[c*words : (c+1)*words]
		if k := of[c]; k >= 0 {
			own[k/64] |= 1 << (k % 64)
		}
		for _, to := range s.out[c] {
			for i := range own {
				own[i] |= reach[to*words+i]
			}
		}
	}
	held := map[string]int{} // by node of a cause, how many nodes wait for it
	for c, members := range s.members {
		if of[c] >= 0 {
			continue
		}
		own, first, n := reach[c*words:(c+1)*words], -1, 0
		for i, w := range own {
			n += bits.OnesCount64(w)
			for ; w != 0; w &= w - 1 {
				k := i*64 + bits.TrailingZeros64(w)
				if first < 0 {
					first = k
				}
				for _, m := range members {
					causes[k].Affects = append(causes[k].Affects, g.Nodes[m].ID)
				}
			}
		}
		if n == 1 {
			for _, m := range members {
				causes[first].Frees = append(causes[first].Frees, g.Nodes[m].ID)
			}
		}
		for _, m := range members {
			for _, e := range g.From(g.Nodes[m].ID) {
				held[e.To]++
			}
		}
	}
	for i := range causes {
		c := &causes[i]
		slices.Sort(c.Affects)
		slices.Sort(c.Frees)
		slices.SortFunc(c.Nodes, func(a, b string) int { return cmp.Or(cmp.Compare(held[b], held[a]), strings.Compare(a, b)) })
	}
	slices.SortFunc(causes, compareCauses)
	return causes
}

func compareCauses(a, b Cause) int {
	no := func(is bool) int {
		if is {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(no(a.Danger), no(b.Danger)), cmp.Compare(no(b.Open), no(a.Open)), cmp.Compare(len(b.Frees), len(a.Frees)),
		cmp.Compare(len(b.Affects), len(a.Affects)), cmp.Compare(len(b.Nodes), len(a.Nodes)), cmp.Compare(no(!a.Since.IsZero()), no(!b.Since.IsZero())), a.Since.Compare(b.Since), strings.Compare(a.Nodes[0], b.Nodes[0]))
}

// components are the strongly connected components of a graph, numbered so that each waits only
// for lower ones.
type components struct {
	g       *Graph
	members [][]int // by component, positions of its nodes, ascending
	out     [][]int // by component, those that it waits for; may repeat
}

// tarjan is one search for components, without recursion.
type tarjan struct {
	*components
	next        [][]int // by position of a node, what it waits for
	of          []int   // its component
	low, number []int   // number 0: not seen
	open        []bool  // it is on the stack
	stack, path []int
	at          []int // by node on the path, the edge that is next
	count       int
}

// components finds them with Tarjan's algorithm.
func (g *Graph) components() *components {
	n := len(g.Nodes)
	position := make(map[string]int, n)
	for i := range g.Nodes {
		position[g.Nodes[i].ID] = i
	}
	t := &tarjan{
		components: &components{g: g}, next: make([][]int, n), of: make([]int, n), low: make([]int, n), number: make([]int, n), open: make([]bool, n), at: make([]int, n),
	}
	for _, e := range g.Edges {
		from, ok1 := position[e.From]
		to, ok2 := position[e.To]
		if ok1 && ok2 && from != to {
			t.next[from] = append(t.next[from], to)
		}
	}
	for start := range n {
		if t.number[start] == 0 {
			t.search(start)
		}
	}
	t.out = make([][]int, len(t.members))
	for v := range n {
		for _, w := range t.next[v] {
			if t.of[v] != t.of[w] {
				t.out[t.of[v]] = append(t.out[t.of[v]], t.of[w])
			}
		}
	}
	return t.components
}

// search visits what a node waits for.
func (t *tarjan) search(start int) {
	t.path = append(t.path, start)
	for len(t.path) > 0 {
		v := t.path[len(t.path)-1]
		if t.number[v] == 0 {
			t.count++
			t.number[v], t.low[v], t.open[v] = t.count, t.count, true
			t.stack = append(t.stack, v)
		}
		if t.at[v] < len(t.next[v]) {
			w := t.next[v][t.at[v]]
			t.at[v]++
			switch {
			case t.number[w] == 0:
				t.path = append(t.path, w)
			case t.open[w]:
				t.low[v] = min(t.low[v], t.number[w])
			}
			continue
		}
		t.path = t.path[:len(t.path)-1]
		if len(t.path) > 0 {
			u := t.path[len(t.path)-1]
			t.low[u] = min(t.low[u], t.low[v])
		}
		if t.low[v] == t.number[v] {
			t.close(v)
		}
	}
}

// close ends the component on top of the stack, which begins with v.
func (t *tarjan) close(v int) {
	from := len(t.stack) - 1
	for t.stack[from] != v {
		from--
	}
	members := slices.Sorted(slices.Values(t.stack[from:]))
	for _, m := range members {
		t.of[m], t.open[m] = len(t.members), false
	}
	t.stack = t.stack[:from]
	t.members = append(t.members, members)
}

// sinks returns the causes, and for each component the position of its cause, or -1.
func (s *components) sinks() (causes []Cause, of []int) {
	type key struct {
		kind, reason, alike string
		state               State
	}
	known := map[key]int{}
	of = make([]int, len(s.members))
	for c, members := range s.members {
		of[c] = -1
		going := func(m int) bool { return s.g.Nodes[m].State != Going }
		if len(s.out[c]) > 0 || !slices.ContainsFunc(members, going) {
			continue
		}
		first := &s.g.Nodes[members[0]]
		k, joined := len(causes), false
		if len(members) == 1 {
			like := key{first.Kind, first.Reason, first.Alike, first.State}
			if k, joined = known[like]; !joined {
				k = len(causes)
				known[like] = k
			}
		}
		if !joined {
			causes = append(causes, Cause{Kind: first.Kind, Reason: first.Reason, Circle: len(members) > 1, Open: len(members) == 1 && first.State == Waiting})
		}
		of[c] = k
		for _, m := range members {
			causes[k].take(&s.g.Nodes[m])
		}
	}
	return causes, of
}

// take adds a node to a cause.
func (c *Cause) take(n *Node) {
	c.Nodes = append(c.Nodes, n.ID)
	c.Danger = c.Danger || n.Danger
	if !n.Since.IsZero() && (c.Since.IsZero() || n.Since.Before(c.Since)) {
		c.Since = n.Since
	}
}

// Stuck returns the IDs of all nodes that wait for a cause or are part of one, by ID.
func Stuck(causes []Cause) []string {
	var all []string
	for i := range causes {
		all = append(append(all, causes[i].Nodes...), causes[i].Affects...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Way returns the edges from a node to the nearest node of a cause: the fewest, and among them
// the first by IDs. It is empty for a node of a cause, and for one that waits for none.
func (g *Graph) Way(from string, causes []Cause) []Edge {
	ends := map[string]bool{}
	for i := range causes {
		for _, id := range causes[i].Nodes {
			ends[id] = true
		}
	}
	came := map[string]Edge{from: {}}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		if ends[id] {
			var way []Edge
			for id != from {
				way = append(way, came[id])
				id = came[id].From
			}
			slices.Reverse(way)
			return way
		}
		for _, e := range g.From(id) {
			if _, seen := came[e.To]; !seen {
				came[e.To] = e
				queue = append(queue, e.To)
			}
		}
	}
	return nil
}
