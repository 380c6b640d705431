package graph

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/binheap"
)

// Preference says which of two paths is better, among those with the same number of
// risks that apply to the cluster.
type Preference uint8

// The preferences. Ties are broken by the others: fewer updates, fewer risks that may
// apply, fewer minor versions, newer releases on the way.
const (
	Shortest     Preference = iota // the fewest updates
	FewestRisks                    // the fewest risks that may apply, each counted at every update that has it
	FewestMinors                   // the fewest updates that change the minor version: nodes restart at most once for each if their pools are paused in between
)

// PathOptions say which paths are wanted. Nil means the defaults.
type PathOptions struct {
	Prefer Preference // what makes a path better; Shortest by default
	// Avoid names risks whose updates must not be taken, whether they apply or not; "*"
	// stands for all.
	Avoid []string
	// Evaluations are what is known about the cluster, and Accepted the risks that its
	// administrator accepts. A risk that applies is avoided before all else, one that
	// may apply costs what Prefer says, and one that does not apply or is accepted costs
	// nothing.
	Evaluations Evaluations
	Accepted    []string // see Evaluations
	// Max is how many paths are wanted; default 1.
	Max int
	// Steps limits the work, in partial paths examined; default 1,000,000.
	Steps int
}

// Path is a sequence of updates.
type Path struct {
	From    Release  `json:"from"`    // where it begins
	Updates []Update `json:"updates"` // in their order, each with its risks; the last leads to the target
}

// PathLimitError says that a search took more steps than allowed.
type PathLimitError struct {
	Steps int // the limit
	Found int // paths found within it
}

// Error returns the message on one line.
func (e *PathLimitError) Error() string {
	return fmt.Sprintf("the search for paths was given up after %d steps, with %d found; request fewer paths, or raise PathOptions.Steps", e.Steps, e.Found)
}

// Paths returns the best paths from one release to another, best first. No path passes a
// release twice. A target without build metadata means the build of the starting
// release, if there is one. If the target cannot be reached, there are no paths and no
// error: see WhyNot. Errors are *VersionError, and, together with the paths found so
// far, *PathLimitError and that of ctx.
//
// The first path takes O(n log n) time in the updates of the graph (Dijkstra 1959);
// further ones depend on the number of paths of similar cost (best-first search with the
// exact remaining cost). It returns soon after ctx ends.
func (g *Graph) Paths(ctx context.Context, from, to string, opts *PathOptions) ([]*Path, error) {
	if opts == nil {
		opts = &PathOptions{}
	}
	start, err := g.find(from)
	if err != nil {
		return nil, err
	}
	target, err := g.findBeside(to, start)
	if err != nil {
		return nil, err
	}
	s, err := g.search(ctx, target, opts)
	if err != nil || s.left[start] == unreachable {
		return nil, err
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

// cost is the cost of a path: four counts in the order of the preference, the first that
// differs decides.
type cost struct {
	high, low uint64 // two counts each, of 32 bits
}

var unreachable = cost{1<<64 - 1, 1<<64 - 1}

func costOf(a, b, c, d uint64) cost { return cost{a<<32 | b, c<<32 | d} }

func (c cost) plus(d cost) cost { return cost{c.high + d.high, c.low + d.low} }

func (c cost) compare(d cost) int {
	if c.high != d.high { // no cmp.Or: most of a search is comparisons
		return cmp.Compare(c.high, d.high)
	}
	return cmp.Compare(c.low, d.low)
}

// less reports whether compare is negative.
func (c cost) less(d cost) bool { return c.high < d.high || c.high == d.high && c.low < d.low }

// burden is what the risks of an update mean for the cluster.
type burden struct {
	applies, unknown uint64 // how many apply, and how many may apply
	avoided          bool   // the update must not be taken
}

// search looks for paths to one target.
type search struct {
	ctx     context.Context
	g       *Graph
	opts    *PathOptions
	target  int32
	burdens []burden // by list of risks
	left    []cost   // by release: the least cost to the target
	nexts   [][]end  // by release: the result of next; nil before its first call
	steps   int
}

// search starts a search for paths to a release. The error is that of ctx.
func (g *Graph) search(ctx context.Context, target int32, opts *PathOptions) (*search, error) {
	s := &search{ctx: ctx, g: g, opts: opts, target: target, burdens: make([]burden, len(g.risks))}
	for i, list := range g.risks {
		s.burdens[i] = opts.burden(list)
	}
	return s, s.measure()
}

// burden evaluates a list of risks.
func (o *PathOptions) burden(list []Risk) burden {
	b := burden{avoided: len(list) > 0 && slices.Contains(o.Avoid, "*")}
	for _, r := range list {
		b.avoided = b.avoided || slices.Contains(o.Avoid, r.Name)
		x, _ := o.Evaluations.exposure(r, slices.Contains(o.Accepted, r.Name))
		switch {
		case x.Accepted:
		case x.Applies == fairlead.ConditionTrue:
			b.applies++
		case x.Applies == fairlead.ConditionUnknown:
			b.unknown++
		}
	}
	return b
}

// ended returns the error of the context, which it checks now and then.
func (s *search) ended() error {
	if s.steps++; s.steps%1024 != 0 {
		return nil
	}
	return s.ctx.Err()
}

// price returns the cost of one update, and whether it may be taken.
func (s *search) price(from int32, e edge) (cost, bool) {
	var b burden
	if e.risks != none {
		if b = s.burdens[e.risks]; b.avoided {
			return cost{}, false
		}
	}
	minors := uint64(0)
	if s.g.minors[from] != s.g.minors[e.to] {
		minors = 1
	}
	switch s.opts.Prefer {
	case FewestRisks:
		return costOf(b.applies, b.unknown, 1, minors), true
	case FewestMinors:
		return costOf(b.applies, minors, 1, b.unknown), true
	}
	return costOf(b.applies, 1, b.unknown, minors), true
}

// measure fills left, going backwards from the target. The error is that of the context.
func (s *search) measure() error {
	s.left = make([]cost, len(s.g.releases))
	for i := range s.left {
		s.left[i] = unreachable
	}
	s.left[s.target] = cost{}
	queue := binheap.Heap[end]{Items: []end{{cost{}, s.target}}, Less: cheaper}
	for len(queue.Items) > 0 {
		if err := s.ended(); err != nil {
			return err
		}
		at := queue.Pop()
		if s.left[at.node].less(at.cost) {
			continue
		}
		for _, e := range s.g.in[at.node] {
			price, ok := s.price(e.to, edge{at.node, e.risks})
			if !ok {
				continue
			}
			if total := at.cost.plus(price); total.less(s.left[e.to]) {
				s.left[e.to] = total
				queue.Push(end{total, e.to})
			}
		}
	}
	return s.ctx.Err()
}

// next returns the result of sorted, and remembers it.
func (s *search) next(from int32) []end {
	if s.nexts == nil {
		s.nexts = make([][]end, len(s.g.releases))
	}
	if s.nexts[from] == nil {
		s.nexts[from] = s.sorted(from)
	}
	return s.nexts[from]
}

// sorted returns the updates from a release that lead to the target, cheapest
// first, then the newest.
func (s *search) sorted(from int32) []end {
	list := []end{}
	for e := range s.ends(from) {
		list = append(list, e)
	}
	slices.SortFunc(list, s.nearer)
	return list
}

// ends yields the updates from a release that lead to the target.
func (s *search) ends(from int32) iter.Seq[end] {
	return func(yield func(end) bool) {
		for _, e := range s.g.out[from] {
			if price, ok := s.price(from, e); ok && s.left[e.to] != unreachable && !yield(end{price, e.to}) {
				return
			}
		}
	}
}

// nearer orders the updates from a release.
func (s *search) nearer(a, b end) int {
	return cmp.Or(a.cost.plus(s.left[a.node]).compare(b.cost.plus(s.left[b.node])), s.g.newest(a.node, b.node))
}

// best follows the lowest costs.
func (s *search) best(start int32) []int32 {
	nodes := []int32{start}
	for at := start; at != s.target; {
		first, any := end{}, false
		for e := range s.ends(at) {
			if !any || s.nearer(e, first) < 0 {
				first, any = e, true
			}
		}
		at = first.node
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
	queue := binheap.Heap[partial]{Items: []partial{{at: &place{node: start}, total: s.left[start]}}, Less: promising}
	count := 1
	for n := 0; len(queue.Items) > 0 && len(found) < s.opts.Max; n++ {
		if n == steps {
			return found, &PathLimitError{Steps: steps, Found: len(found)}
		}
		if err := s.ended(); err != nil {
			return found, err
		}
		p := queue.Pop()
		if p.at.node == s.target {
			found = append(found, p.at.path())
			continue
		}
		for _, e := range slices.Backward(s.next(p.at.node)) { // the first is added last
			if p.at.passes(e.node) {
				continue
			}
			spent := p.spent.plus(e.cost)
			queue.Push(partial{at: &place{e.node, p.at}, spent: spent, total: spent.plus(s.left[e.node]), number: count})
			count++
		}
	}
	return found, nil
}

// place is a release on a path, and how it is reached.
type place struct {
	node int32
	from *place // nil at the start of the path
}

// passes reports whether the path has been at a release.
func (p *place) passes(node int32) bool {
	for ; p != nil; p = p.from {
		if p.node == node {
			return true
		}
	}
	return false
}

// path returns the releases of the path.
func (p *place) path() []int32 {
	var nodes []int32
	for ; p != nil; p = p.from {
		nodes = append(nodes, p.node)
	}
	slices.Reverse(nodes)
	return nodes
}

// end is a release that is reached at a cost.
type end struct {
	cost cost
	node int32
}

// cheaper orders ends.
func cheaper(a, b end) bool {
	return a.cost.less(b.cost) || a.cost == b.cost && a.node < b.node
}

// partial is the beginning of a path.
type partial struct {
	at     *place
	spent  cost
	total  cost // with the lowest remaining cost
	number int  // when it was added
}

// promising orders partials, cheapest first; of equal ones the last added, so that paths
// of equal cost are found one after the other, and not all at once.
func promising(a, b partial) bool {
	return cmp.Or(a.total.compare(b.total), cmp.Compare(b.number, a.number)) < 0
}
