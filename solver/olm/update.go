package olm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver"
)

// Update is the answer to the wish that only some packages move.
type Update struct {
	// Resolution is what to do. Of a subscription of another package that stays
	// below its head it says so, and why of one that cannot stay.
	Resolution *Resolution `json:"resolution"`
	// Moved are the installed operators of other packages that cannot stay, in
	// the order in which their subscriptions are served. No answer that serves
	// the packages named as well moves fewer.
	Moved []Move `json:"moved,omitempty"`
	// Added are the names of the operators that are new and that no subscription
	// asked for, in order. No answer that moves no more adds fewer.
	Added []string `json:"added,omitempty"`
}

// Move is an installed operator that gives way.
type Move struct {
	Subscription string `json:"subscription"` // the first that has it installed
	From         string `json:"from"`         // the name of the installed CSV
	To           string `json:"to"`           // the name of the CSV that takes its place
	Why          string `json:"why"`          // why it cannot stay, to be read after its name
}

// UpdateOnly resolves a request so that only the packages named move, and
// others only where it cannot be avoided. The rules are those of Resolve, the
// order of preference is another:
//
//  1. The subscriptions of the packages named are served first, in order, each
//     by the first of its candidates that leaves the earlier choices standing,
//     as Resolve would do in the absence of others.
//  2. As few as possible of the other subscriptions' installed operators move.
//  3. As few as possible operators are added that no subscription asks for.
//  4. Of what remains, the other subscriptions are served in order, and
//     preferably by what is installed; then the requirements, as Resolve does.
//
// That nothing less would do is proven, not guessed: in steps 2 and 3 an answer
// with one less was looked for, and found not to exist.
//
// A subscription of another package that has nothing installed is served as
// ever; leave it out of the request where it should wait. PartialOK does not
// count here.
//
// Errors are those of Resolve; a package that no subscription is of is one more.
func (r *Resolver) UpdateOnly(ctx context.Context, req *Request, packages []string) (*Update, error) {
	ctx, end := r.budgeted(ctx)
	u, err := r.updateOnly(ctx, req, packages)
	return u, end(err)
}

func (r *Resolver) updateOnly(ctx context.Context, req *Request, packages []string) (*Update, error) {
	q, err := r.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := q.name(packages); err != nil {
		return nil, err
	}
	selected, err := q.least(ctx)
	if err != nil {
		return nil, err
	}
	res, err := q.result(ctx, selected)
	if err != nil {
		return nil, err
	}
	u := &Update{Resolution: res}
	if u.Moved, err = q.moved(ctx, selected); err != nil {
		return nil, err
	}
	for _, e := range q.unasked(selected) {
		u.Added = append(u.Added, e.name)
	}
	slices.Sort(u.Added)
	return u, nil
}

// name puts the subscriptions of some packages before the others.
func (q *query) name(packages []string) error {
	q.named = make(map[string]bool)
	var known []string
	for _, s := range q.subs {
		known = append(known, s.Spec.Package)
	}
	for _, p := range packages {
		if !slices.Contains(known, p) {
			hint := "the request has subscriptions of " + listNames(sorted(known))
			if close := words.Nearest(p, known); close != "" {
				hint = "there is one of " + close
			}
			return fmt.Errorf("package %s: the request has no subscription of it, so it cannot be updated; %s", p, hint)
		}
		q.named[p] = true
	}
	slices.SortStableFunc(q.subs, func(a, b *subscription) int {
		switch in := q.named[a.Spec.Package]; {
		case in == q.named[b.Spec.Package]:
			return 0
		case in:
			return -1
		}
		return 1
	})
	return nil
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

// holds reports whether a subscription's installed operator should stay.
func (q *query) holds(s *subscription) bool {
	return q.named != nil && !q.named[s.Spec.Package] && s.current != nil
}

// A cost is something that an answer is to have as little of as possible.
type cost struct {
	count func(selected []*entry) int
	vars  func(n *encoding) []solver.Var // each that is selected counts one
}

// bound is how much of a cost is allowed.
type bound struct {
	cost
	most int
}

// least finds the best answer for the packages named, and then lowers each cost
// in turn for as long as that is possible.
func (q *query) least(ctx context.Context) ([]*entry, error) {
	selected, err := q.solve(ctx)
	if err != nil {
		return nil, err
	}
	picks := q.picks(selected)
	var bounds []bound
	for _, c := range []cost{
		{func(s []*entry) int { return len(q.gone(s)) }, func(n *encoding) []solver.Var { return n.moves }},
		{func(s []*entry) int { return len(q.unasked(s)) }, func(n *encoding) []solver.Var { return n.reachAll(q.unasked(n.reached)) }},
	} {
		for c.count(selected) > 0 {
			less, err := q.within(ctx, picks, append(slices.Clip(bounds), bound{c, c.count(selected) - 1}))
			var unsat *UnsatError
			if errors.As(err, &unsat) {
				break
			}
			if err != nil {
				return nil, err
			}
			selected = less
		}
		bounds = append(bounds, bound{c, c.count(selected)})
	}
	return selected, nil
}

// within returns the best answer that has some picks and keeps to some bounds.
func (q *query) within(ctx context.Context, picks []*entry, bounds []bound) ([]*entry, error) {
	n, err := q.encode(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range picks {
		n.problem.Require(n.reach(e), nil)
	}
	for _, b := range bounds {
		n.problem.Limit(b.most, b.vars(n), nil)
	}
	return q.decide(ctx, n)
}

// picks returns what serves the subscriptions of the packages named.
func (q *query) picks(selected []*entry) []*entry {
	var picks []*entry
	for _, s := range q.subs {
		if q.named[s.Spec.Package] {
			options := s.options() // the checker saw that one is selected
			picks = append(picks, options[slices.IndexFunc(options, func(e *entry) bool { return slices.Contains(selected, e) })])
		}
	}
	return picks
}

// gone returns the installed operators that should have stayed and did not, in
// the order of their subscriptions.
func (q *query) gone(selected []*entry) []*entry {
	var gone []*entry
	for _, s := range q.subs {
		if q.holds(s) && !slices.Contains(selected, s.current) && !slices.Contains(gone, s.current) {
			gone = append(gone, s.current)
		}
	}
	return gone
}

// unasked returns those of some entries that are of catalogs, and that no
// subscription has among its candidates.
func (q *query) unasked(entries []*entry) []*entry {
	asked := make(map[*entry]bool)
	for _, s := range q.subs {
		for _, e := range s.candidates {
			asked[e] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e *entry) bool { return e.isInstalled() || asked[e] })
}

// maxReasons is for how many operators the reason is looked for: each costs a
// resolution.
const maxReasons = 50

// moved says of each operator that should have stayed why it cannot.
func (q *query) moved(ctx context.Context, selected []*entry) ([]Move, error) {
	var moves []Move
	for _, e := range q.gone(selected) {
		m := Move{From: e.name}
		for _, s := range slices.Backward(q.subs) { // the first comes last, and stands
			if pick := s.pick(selected); s.current == e && pick != nil {
				m.Subscription, m.To = s.Name, pick.name
			}
		}
		m.Why = "cannot stay beside what the packages named take"
		if len(moves) < maxReasons {
			var err error
			if m.Why, err = q.whyNot(ctx, e, q.picks(selected)); err != nil {
				return nil, err
			}
		}
		if m.Why == atAPrice {
			m.Why = "could stay only if another operator moved in its place"
		}
		moves = append(moves, m)
	}
	return moves, nil
}
