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

// find searches for the path of each group by itself. A group without a target
// moves only if it cannot stay as it is.
func (p *pathfinder) find(ctx context.Context) (*Path, error) {
	f, err := p.foresee(ctx)
	if err != nil {
		return nil, err
	}
	var tracks []track
	var others []*query
	moves := false
	for _, g := range f.groups() {
		goals := slices.DeleteFunc(slices.Clone(p.goals), func(goal goal) bool {
			return !slices.ContainsFunc(g.subs, func(s *subscription) bool { return s.Spec.Package == goal.Package })
		})
		if len(goals) == 0 {
			others = append(others, g)
			continue
		}
		last, err := p.search(ctx, g, goals)
		if err != nil {
			return nil, err
		}
		tracks = append(tracks, trackTo(last))
		moves = moves || last.hops > 0
	}
	for _, g := range others {
		if !moves {
			break
		}
		last, err := p.settle(ctx, g)
		if err != nil {
			return nil, err
		}
		tracks = append(tracks, trackTo(last))
	}
	return merge(ctx, tracks), nil
}

func (q *query) start() *state {
	s := &state{installed: q.installed}
	for _, sub := range q.subs {
		s.subs = append(s.subs, sub.Subscription)
	}
	return s
}

// search goes through the states of a group, fewer hops first and preferred
// ones first, to the first one that meets the goals.
func (p *pathfinder) search(ctx context.Context, g *query, goals []goal) (*state, error) {
	all := []*state{g.start()}
	if all[0].meets(goals...) {
		return all[0], nil
	}
	seen := map[string]bool{p.key(all[0]): true}
	for i := 0; i < len(all); i++ { // grows during the loop
		q, err := p.at(g, all[i])
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
			if next.meets(goals...) {
				return next, nil
			}
			all = append(all, next)
		}
	}
	return nil, p.deadEnd(ctx, g, goals, all)
}

// at returns the query of a group in a state.
func (p *pathfinder) at(g *query, s *state) (*query, error) {
	q := *g
	q.subs, q.installed = nil, s.installed
	for _, sub := range s.subs {
		own := &subscription{Subscription: sub}
		q.readCurrent(own)
		if err := q.findCandidates(own); err != nil {
			return nil, err
		}
		q.subs = append(q.subs, own)
	}
	return &q, nil
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

// settle returns the state in which a group without a target can stay: as it
// is, or after the preferred hop.
func (p *pathfinder) settle(ctx context.Context, g *query) (*state, error) {
	s := g.start()
	selected, err := g.solve(ctx)
	if err != nil {
		return nil, err
	}
	next := p.advance(g, s, selected)
	if p.key(next) == p.key(s) {
		return s, nil
	}
	return next, nil
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
