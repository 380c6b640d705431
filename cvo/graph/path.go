package graph

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
)

// Preference says which of two paths is better.
type Preference uint8

// The preferences. What one leaves open the others decide: then fewer updates,
// fewer risks, fewer minor versions, newer releases on the way.
const (
	Shortest     Preference = iota // the fewest updates
	FewestRisks                    // the fewest risks, each counted at every update that has it
	FewestMinors                   // the fewest updates that change the minor version: each costs the nodes a restart at most once when their pools are paused in between
)

// PathOptions say which paths are wanted. Nil is the zero value.
type PathOptions struct {
	Prefer Preference // what makes a path better; Shortest by default
	// Avoid names risks whose updates are not to be taken; "*" stands for all.
	Avoid []string
	// Max is how many paths are wanted; default 1.
	Max int
	// Steps bounds the work, in partial paths looked at; default 1,000,000.
	Steps int
}

// Path is a sequence of updates.
type Path struct {
	From    Release  // where it begins
	Updates []Update // in their order, each with its risks; the last leads to the target
}

// Risks returns how many risks the path has, each counted at every update.
func (p *Path) Risks() int {
	n := 0
	for _, u := range p.Updates {
		n += len(u.Risks)
	}
	return n
}

// PathLimitError tells that a search took more steps than it may.
type PathLimitError struct {
	Steps int // the limit
	Found int // paths found within it
}

// Error returns the message on one line.
func (e *PathLimitError) Error() string {
	return fmt.Sprintf("the search for paths was given up after %d steps, with %d found; ask for fewer paths, or raise PathOptions.Steps", e.Steps, e.Found)
}

// Paths returns the best paths from one release to another, best first. No path
// passes a release twice. There are none, and no error, when the target cannot
// be reached: see WhyNot. Errors are *VersionError, and *PathLimitError together
// with the paths found so far.
//
// One path takes time in the order of n log n of the updates of the graph
// (Dijkstra 1959), further ones that of the paths that come near them (best
// first search that knows the exact remaining cost).
func (g *Graph) Paths(from, to string, opts *PathOptions) ([]*Path, error) {
	if opts == nil {
		opts = &PathOptions{}
	}
	start, err := g.find(from)
	if err != nil {
		return nil, err
	}
	target, err := g.find(to)
	if err != nil {
		return nil, err
	}
	s := &search{g: g, opts: opts, target: target}
	s.measure()
	if s.left[start] == unreachable {
		return nil, nil
	}
	if opts.Max <= 1 {
		return []*Path{g.path(s.best(start))}, nil
	}
	lists, err := s.all(start)
	paths := make([]*Path, len(lists))
	for i, list := range lists {
		paths[i] = g.path(list)
	}
	return paths, err
}

// path returns the path over releases.
func (g *Graph) path(nodes []int32) *Path {
	p := &Path{From: g.releases[nodes[0]], Updates: []Update{}}
	for k, to := range nodes[1:] {
		u := Update{Release: g.releases[to]}
		if list := g.risksOf(plainEdge{nodes[k], to}); list != none {
			u.Risks = g.risks[list]
		}
		p.Updates = append(p.Updates, u)
	}
	return p
}

// cost is what a path costs, its parts in the order of the preference, each in
// 21 bits.
type cost uint64

const unreachable = cost(1<<64 - 1)

// search looks for paths to one target.
type search struct {
	g      *Graph
	opts   *PathOptions
	target int32
	left   []cost // by release: the least cost to the target
}

// price returns the cost of one update, and whether it may be taken.
func (s *search) price(from int32, e edge) (cost, bool) {
	risks := cost(0)
	if e.risks != none {
		list := s.g.risks[e.risks]
		risks = cost(len(list))
		for _, r := range list {
			if slices.Contains(s.opts.Avoid, r.Name) || slices.Contains(s.opts.Avoid, "*") {
				return 0, false
			}
		}
	}
	minors := cost(0)
	if s.g.minors[from] != s.g.minors[e.to] {
		minors = 1
	}
	const part, hop = 21, 1
	switch s.opts.Prefer {
	case FewestRisks:
		return risks<<(2*part) | hop<<part | minors, true
	case FewestMinors:
		return minors<<(2*part) | hop<<part | risks, true
	}
	return hop<<(2*part) | risks<<part | minors, true
}

// measure fills left, going backwards from the target.
func (s *search) measure() {
	s.left = make([]cost, len(s.g.releases))
	for i := range s.left {
		s.left[i] = unreachable
	}
	s.left[s.target] = 0
	queue := &ends{{0, s.target}}
	for queue.Len() > 0 {
		at := heap.Pop(queue).(end)
		if at.cost > s.left[at.node] {
			continue
		}
		for _, e := range s.g.in[at.node] {
			price, ok := s.price(e.to, edge{at.node, e.risks})
			if total := at.cost + price; ok && total < s.left[e.to] {
				s.left[e.to] = total
				heap.Push(queue, end{total, e.to})
			}
		}
	}
}

// next returns the updates from a release that lead to the target, cheapest
// first, then the newest.
func (s *search) next(from int32) []end {
	var list []end
	for _, e := range s.g.out[from] {
		if price, ok := s.price(from, e); ok && s.left[e.to] != unreachable {
			list = append(list, end{price, e.to})
		}
	}
	slices.SortFunc(list, func(a, b end) int {
		return cmp.Or(cmp.Compare(a.cost+s.left[a.node], b.cost+s.left[b.node]), s.g.newest(a.node, b.node))
	})
	return list
}

// best walks along the least costs.
func (s *search) best(start int32) []int32 {
	nodes := []int32{start}
	for at := start; at != s.target; {
		at = s.next(at)[0].node
		nodes = append(nodes, at)
	}
	return nodes
}

// all returns up to Max paths, best first.
func (s *search) all(start int32) ([][]int32, error) {
	steps := s.opts.Steps
	if steps <= 0 {
		steps = 1_000_000
	}
	var found [][]int32
	queue := &partials{{nodes: []int32{start}, total: s.left[start]}}
	count := 1
	for n := 0; queue.Len() > 0 && len(found) < s.opts.Max; n++ {
		if n == steps {
			return found, &PathLimitError{Steps: steps, Found: len(found)}
		}
		p := heap.Pop(queue).(partial)
		last := p.nodes[len(p.nodes)-1]
		if last == s.target {
			found = append(found, p.nodes)
			continue
		}
		for _, e := range slices.Backward(s.next(last)) { // the first is to be added last
			if slices.Contains(p.nodes, e.node) {
				continue
			}
			spent := p.spent + e.cost
			nodes := append(slices.Clip(p.nodes), e.node)
			heap.Push(queue, partial{nodes: nodes, spent: spent, total: spent + s.left[e.node], number: count})
			count++
		}
	}
	return found, nil
}

// end is a release that is reached at a cost.
type end struct {
	cost cost
	node int32
}

// ends is a heap, cheapest first.
type ends []end

func (h ends) Len() int { return len(h) }
func (h ends) Less(i, j int) bool {
	return h[i].cost < h[j].cost || h[i].cost == h[j].cost && h[i].node < h[j].node
}
func (h ends) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *ends) Push(x any) { *h = append(*h, x.(end)) }

// Pop implements heap.Interface.
func (h *ends) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// partial is the beginning of a path.
type partial struct {
	nodes  []int32
	spent  cost
	total  cost // with the least that is left
	number int  // when it was added
}

// partials is a heap, cheapest first; of equal ones the last that was added, so
// that paths of equal cost are found one after the other, and not all at once.
type partials []partial

func (h partials) Len() int { return len(h) }
func (h partials) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	return cmp.Or(cmp.Compare(a.total, b.total), cmp.Compare(b.number, a.number)) < 0
}
func (h partials) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *partials) Push(x any) { *h = append(*h, x.(partial)) }

// Pop implements heap.Interface.
func (h *partials) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
