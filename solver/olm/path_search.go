package olm

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/solver"
)

// pathfinder is the state of a call of UpgradePath.
type pathfinder struct {
	*query
	goals         []goal
	limit, budget int               // the number of states to look at, and how many of them are left
	stands        map[*entry]*entry // the entry of a bundle once it is installed
	from          map[*entry]string // the id of the bundle that such an entry came from
}

// state is a set of installed operators, and how it was reached.
type state struct {
	subs      []*Subscription // in the order in which they are served
	installed []*entry        // by name
	hops      int

	// After a hop: the previous state, and the answer that led here.
	before   *state
	query    *query
	selected []*entry
}

// key identifies a state.
func (p *pathfinder) key(s *state) string {
	var b strings.Builder
	for _, e := range s.installed {
		b.WriteString(e.name + "\x00" + p.from[e] + "\x00")
	}
	for _, sub := range s.subs {
		b.WriteString(sub.Name + "\x00" + sub.Status.InstalledCSV + "\x00")
	}
	return b.String()
}

func (s *state) meets(goals ...goal) bool {
	return !slices.ContainsFunc(goals, func(g goal) bool {
		return !slices.ContainsFunc(s.installed, g.metBy)
	})
}

// track is the path of one group of operators.
type track struct {
	start *state
	steps []*state // after each hop
}

func trackTo(s *state) track {
	var t track
	for ; s.before != nil; s = s.before {
		t.steps = append(t.steps, s)
	}
	slices.Reverse(t.steps)
	t.start = s
	return t
}

// goalGroup is a group of operators with the goals that concern it.
type goalGroup struct {
	*query
	goals []goal
}

// find searches for the path of each group by itself. A group without a target, or
// that meets its goals at the start, moves only if others move and it cannot stay as
// it is.
func (p *pathfinder) find(ctx context.Context) (*Path, error) {
	f, err := p.foresee(ctx)
	if err != nil {
		return nil, err
	}
	var tracks []track
	var others []goalGroup
	var dead []*PathError
	for _, g := range f.groups() {
		x := goalGroup{query: g}
		for _, goal := range p.goals {
			if slices.ContainsFunc(g.subs, func(s *subscription) bool { return s.Spec.Package == goal.Package }) {
				x.goals = append(x.goals, goal)
			}
		}
		if g.start().meets(x.goals...) {
			others = append(others, x)
			continue
		}
		last, err := p.search(ctx, x, false)
		var none *PathError
		switch {
		case errors.As(err, &none):
			dead = append(dead, none)
		case err != nil:
			return nil, err
		default:
			tracks = append(tracks, trackTo(last))
		}
	}
	if len(dead) > 0 {
		return nil, p.together(dead)
	}
	if len(tracks) == 0 {
		return &Path{Hops: []Hop{}}, nil
	}
	for _, x := range others {
		last, err := p.settle(ctx, x)
		if err != nil {
			return nil, err
		}
		tracks = append(tracks, trackTo(last))
	}
	return merge(ctx, tracks), nil
}

// together returns one error for those of several groups.
func (p *pathfinder) together(dead []*PathError) *PathError {
	order := func(t Target) int {
		return slices.IndexFunc(p.goals, func(g goal) bool { return g.Target == t })
	}
	slices.SortStableFunc(dead, func(a, b *PathError) int { return order(a.Dead[0].Target) - order(b.Dead[0].Target) })
	all := &PathError{Nearest: dead[0].Nearest}
	for _, d := range dead {
		all.Dead = append(all.Dead, d.Dead...)
	}
	slices.SortStableFunc(all.Dead, func(a, b DeadEnd) int { return order(a.Target) - order(b.Target) })
	return all
}

func (q *query) start() *state {
	s := &state{installed: q.installed}
	for _, sub := range q.subs {
		s.subs = append(s.subs, sub.Subscription)
	}
	return s
}

// search goes through the states of a group, fewer hops first and preferred
// ones first, to the first one that meets the goals: the start, unless a hop must
// be made, which may lead back to the start.
func (p *pathfinder) search(ctx context.Context, g goalGroup, hop bool) (*state, error) {
	all := []*state{g.start()}
	if !hop && all[0].meets(g.goals...) {
		return all[0], nil
	}
	seen := map[string]bool{p.key(all[0]): !hop}
	for i := 0; i < len(all); i++ { // grows during the loop
		q, err := p.at(g.query, all[i])
		if err != nil {
			return nil, err
		}
		for next, err := range p.nexts(ctx, q, all[i]) {
			if err != nil {
				return nil, err
			}
			if seen[p.key(next)] {
				continue
			}
			seen[p.key(next)] = true
			if next.meets(g.goals...) {
				return next, nil
			}
			all = append(all, next)
		}
	}
	return nil, p.deadEnd(ctx, g, all)
}

// at returns the query of a group in a state.
func (p *pathfinder) at(g *query, s *state) (*query, error) {
	q := *g
	q.installed = s.installed
	return &q, q.readSubscriptions(s.subs)
}

// nexts yields the states that one hop leads to, the preferred ones first.
func (p *pathfinder) nexts(ctx context.Context, q *query, s *state) func(yield func(*state, error) bool) {
	return func(yield func(*state, error) bool) {
		n, err := q.encode(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			selected, err := q.decide(ctx, n)
			var unsat *UnsatError
			if errors.As(err, &unsat) {
				return
			}
			if p.budget--; err == nil && p.limit > 0 && p.budget < 0 {
				err = &PathLimitError{States: p.limit, Hops: s.hops}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(p.advance(q, s, selected), nil) {
				return
			}
			var other []solver.Lit
			for _, e := range selected {
				other = append(other, n.vars[e].No())
			}
			n.problem.Any(other, nil)
		}
	}
}

// settle returns the state that a group is in while others move: the start if it
// can stay as it is, or else where it meets its goals after a hop or more.
func (p *pathfinder) settle(ctx context.Context, g goalGroup) (*state, error) {
	selected, err := g.solve(ctx)
	if err != nil {
		return nil, err
	}
	s := g.start()
	last := p.advance(g.query, s, selected)
	if len(g.goals) > 0 {
		if last, err = p.search(ctx, g, true); err != nil {
			return nil, err
		}
	}
	if p.key(last) == p.key(s) {
		return s, nil
	}
	return last, nil
}

// advance returns the state after a hop.
func (p *pathfinder) advance(q *query, s *state, selected []*entry) *state {
	next := &state{hops: s.hops + 1, before: s, query: q, selected: selected}
	for _, sub := range q.subs {
		after := sub.Subscription
		if pick := sub.pick(selected); pick != nil && after.Status.InstalledCSV != pick.name {
			moved := *after
			moved.Status.InstalledCSV, moved.Status.CurrentCSV = pick.name, pick.name
			after = &moved
		}
		next.subs = append(next.subs, after)
	}
	for _, e := range selected {
		stands := q.standing(e)
		if stands == nil {
			stands = p.install(e)
			if c := newChoice(e, q.subs); len(c.Subscriptions) == 0 {
				sub := generate(&c, q.req.Namespace)
				sub.Status.InstalledCSV, sub.Status.CurrentCSV = e.name, e.name
				next.subs = append(next.subs, &sub)
			}
		}
		next.installed = append(next.installed, stands)
	}
	slices.SortFunc(next.installed, func(a, b *entry) int { return strings.Compare(a.name, b.name) })
	if !q.opts.KeepOrder {
		slices.SortStableFunc(next.subs, func(a, b *Subscription) int {
			if in := q.named[a.Spec.Package]; in != q.named[b.Spec.Package] {
				return map[bool]int{true: -1, false: 1}[in]
			}
			return strings.Compare(a.Name, b.Name)
		})
	}
	return next
}

// pick returns the selected candidate that serves a subscription, or nil.
func (s *subscription) pick(selected []*entry) *entry {
	for _, e := range s.candidates {
		if slices.Contains(selected, e) {
			return e
		}
	}
	return nil
}

// standing returns the installed operator that is the entry or has its name, so
// that there is nothing to install, or nil if the entry is new.
func (q *query) standing(e *entry) *entry {
	for _, i := range q.installed {
		if i == e || i.name == e.name {
			return i
		}
	}
	return nil
}

// install returns the entry of a bundle once it is installed.
func (p *pathfinder) install(e *entry) *entry {
	i := p.stands[e]
	if i == nil {
		i = &entry{operator: e.operator, id: "@existing/" + p.req.Namespace + "//" + e.name, name: e.name, pkg: e.pkg, rank: -1}
		p.stands[e], p.from[i] = i, e.id
	}
	return i
}

// merge combines the hops of several groups.
func merge(ctx context.Context, tracks []track) *Path {
	length := 0
	for _, t := range tracks {
		length = max(length, len(t.steps))
	}
	path := &Path{Hops: make([]Hop, length)}
	for i := range path.Hops {
		h := &path.Hops[i]
		for _, t := range tracks {
			s := t.start
			if i < len(t.steps) {
				s = t.steps[i]
				h.Chosen = append(h.Chosen, s.query.newAnswer(ctx, s.selected).chosen()...)
			} else if len(t.steps) > 0 {
				s = t.steps[len(t.steps)-1]
			}
			for _, e := range s.installed {
				h.Installed = append(h.Installed, e.name)
			}
		}
		slices.SortFunc(h.Chosen, Choice.compare)
		slices.Sort(h.Installed)
	}
	return path
}
