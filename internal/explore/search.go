package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Result is the result of an exploration.
type Result struct {
	States    int            // how many were visited
	Edges     int            // moves between them
	Rest      int            // states in which nothing is owed
	Complete  bool           // whether these are all states
	Moves     map[string]int // how often each move was made, by its first word
	Violation *Violation     // the first one found; nil if all rules hold
}

// String returns the counts in one line.
func (r *Result) String() string {
	all := "all of them"
	if !r.Complete {
		all = "not all of them"
	}
	var moves []string
	for name, n := range r.Moves {
		moves = append(moves, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(moves)
	return fmt.Sprintf("%d states (%s), %d at rest, %d moves: %s", r.States, all, r.Rest, r.Edges, strings.Join(moves, ", "))
}

// Violation is a rule that does not hold, and the shortest path to where it is
// broken.
type Violation struct {
	Rule  string
	World int      // the number of the world where the path begins
	Trace []string // the moves
	Loop  int      // how many of the last moves return to where they began; 0 for none
}

// Error implements error.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s\nworld %d\n%s", v.Rule, v.World, strings.Join(v.Trace, "\n"))
}

// node is the part of a visited state that is kept.
type node struct {
	parent int32 // -1 for where a world begins
	move   uint8 // the number of the move that led here
	flags  flags
}

type flags uint8

const (
	atRest flags = 1 << iota // nothing is owed
	told                     // a block says what would end the wait
	still                    // no decision is being carried out, and the runner has observed everything
	asleep                   // still, and nothing wakes the runner
)

// arc is a move from one state to another.
type arc struct {
	to   int32
	kind kind
}

// instant is a world at a point in time.
type instant struct {
	shown sum
	now   int64
}

// search is an exploration in progress.
type search[W, S, A any] struct {
	m     *Model[W, S, A]
	seen  map[sum]int32
	nodes []node
	arcs  [][]arc
	queue []*config[W, S, A]
	once  map[instant]W // worlds that states share
	roots map[int32]int // the world of each node without parent
	r     *Result
}

// Run explores a model, breadth first, until a rule is broken or Max states are
// visited. If not all states were visited, liveness is checked for those from
// which all moves were followed.
func Run[W, S, A any](m *Model[W, S, A]) (*Result, error) {
	x := &search[W, S, A]{m: m, seen: map[sum]int32{}, roots: map[int32]int{}, r: &Result{Moves: map[string]int{}}}
	x.forget()
	defer func() { m.looks, m.reads = nil, nil }()
	limit := m.Max
	if limit == 0 {
		limit = 100_000
	}
	for i := range m.Worlds {
		x.roots[int32(len(x.nodes))] = i
		if _, err := x.visit(m.start(i), -1, 0); err != nil {
			return nil, err
		}
	}
	x.r.Complete = true
	level := 0 // how many states are as many moves from a start as the one at hand, or fewer
	for at := 0; at < len(x.nodes); at++ {
		if x.r.Violation != nil {
			return x.finish(), nil
		}
		if at == level {
			level = len(x.nodes)
			x.forget()
		}
		c := x.queue[at]
		x.queue[at] = nil
		if m.Ends && x.nodes[at].flags&atRest != 0 {
			continue
		}
		if len(x.nodes) >= limit {
			x.r.Complete = false
			break
		}
		if err := x.expand(c, int32(at)); err != nil {
			return nil, err
		}
	}
	x.queue, x.once = nil, nil
	if x.r.Violation == nil {
		x.live()
	}
	return x.finish(), nil
}

// forget lets go of what is remembered only to save time. States that are near in
// the search share most of it.
func (x *search[W, S, A]) forget() {
	x.once, x.m.looks, x.m.reads = map[instant]W{}, map[asked]*flight[S, A]{}, map[*byte]S{}
}

func (x *search[W, S, A]) finish() *Result {
	x.r.States = len(x.nodes)
	return x.r
}

// expand follows all moves from a state.
func (x *search[W, S, A]) expand(c *config[W, S, A], at int32) error {
	edges := x.m.edges(c)
	if len(edges) > 255 {
		return fmt.Errorf("%s: there are %d moves from one state, more than 255", x.m.Name, len(edges))
	}
	for i, e := range edges {
		n := x.m.clone(c)
		e.do(n)
		to, err := x.visit(n, at, uint8(i))
		if err != nil {
			return err
		}
		x.r.Edges++
		word, _, _ := strings.Cut(e.name, " ")
		x.r.Moves[word]++
		x.arcs[at] = append(x.arcs[at], arc{to, e.kind})
		if x.r.Violation != nil {
			return nil
		}
	}
	return nil
}

// visit looks up a state, and checks it if it is new.
func (x *search[W, S, A]) visit(c *config[W, S, A], parent int32, move uint8) (int32, error) {
	key, err := x.m.key(c)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", x.m.Name, err)
	}
	if at, ok := x.seen[key]; ok && c.spoiled == nil {
		return at, nil
	}
	is := instant{c.shown.exact, c.now.UnixNano()}
	if w, ok := x.once[is]; ok {
		c.world, c.mine = w, false
	} else {
		x.once[is] = c.world
	}
	at := int32(len(x.nodes))
	x.seen[key] = at
	x.nodes = append(x.nodes, node{parent, move, x.m.flagsOf(c)})
	x.arcs = append(x.arcs, nil)
	x.queue = append(x.queue, c)
	if x.nodes[at].flags&atRest != 0 {
		x.r.Rest++
	}
	if err := x.m.judge(c); err != nil && x.r.Violation == nil {
		x.r.Violation = x.violation(err.Error(), at)
	}
	return at, nil
}

func (m *Model[W, S, A]) flagsOf(c *config[W, S, A]) flags {
	var f flags
	if m.Rest(c.world) {
		f |= atRest
	}
	if c.blocked {
		f |= told
	}
	if c.idle() && !c.dirty {
		f |= still
		if m.next(c).IsZero() {
			f |= asleep
		}
	}
	return f
}

// judge returns the rule that a state by itself breaks, or nil.
func (m *Model[W, S, A]) judge(c *config[W, S, A]) error {
	if c.spoiled != nil {
		return c.spoiled
	}
	s, err := m.state(c)
	if err != nil {
		return fmt.Errorf("the saved state cannot be read: %w", err)
	}
	if m.Check != nil {
		if err := m.Check(c.world, s, c.last); err != nil {
			return err
		}
	}
	f := m.flagsOf(c)
	if f&still == 0 || f&atRest != 0 {
		return nil
	}
	if f&asleep != 0 && f&told == 0 && !m.moving(c) {
		return errors.New("something is owed, and the runner sleeps forever without a block that says what would end that")
	}
	if wake := c.wake.Sub(c.now.Add(c.offset)); !c.wake.IsZero() && wake > m.patience() {
		return fmt.Errorf("something is owed, and the runner sleeps for %v, more than %v", wake, m.patience())
	}
	if f&told == 0 && c.quiet > m.patience() && !m.moving(c) {
		return fmt.Errorf("something is owed, and nothing has been done for more than %v", m.patience())
	}
	if m.Owed != nil {
		return m.Owed(c.world, c.now, c.last)
	}
	return nil
}

// moving reports whether the world is about to do something that happens sooner or
// later.
func (m *Model[W, S, A]) moving(c *config[W, S, A]) bool {
	if m.Moves == nil {
		return false
	}
	return slices.ContainsFunc(m.Moves(c.world, c.now), func(mv Move[W]) bool { return mv.Sure })
}

// violation returns a broken rule with the path to a state.
func (x *search[W, S, A]) violation(rule string, at int32) *Violation {
	root, moves := x.way(at)
	v := &Violation{Rule: rule, World: x.roots[root]}
	v.Trace = x.names(v.World, moves)
	return v
}

// way returns the numbers of the moves to a state, and the root where the path
// begins.
func (x *search[W, S, A]) way(at int32) (root int32, moves []uint8) {
	for x.nodes[at].parent >= 0 {
		moves = append(moves, x.nodes[at].move)
		at = x.nodes[at].parent
	}
	slices.Reverse(moves)
	return at, moves
}

// names makes moves, given by their numbers, and returns their names.
func (x *search[W, S, A]) names(world int, moves []uint8) []string {
	c := x.m.start(world)
	var names []string
	for _, i := range moves {
		edges := x.m.edges(c)
		if int(i) >= len(edges) {
			return append(names, "(cannot be replayed: times older than the horizon matter, or the model is not deterministic)")
		}
		e := edges[i]
		names = append(names, e.name)
		c = x.m.clone(c)
		e.do(c)
	}
	return names
}

func (m *Model[W, S, A]) start(world int) *config[W, S, A] {
	return &config[W, S, A]{world: m.Clone(m.Worlds[world]), now: begin, dirty: true, left: m.Faults}
}
