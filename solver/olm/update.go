package olm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/solver"
)

// Update is the answer of [Resolver.UpdateOnly].
type Update struct {
	// Resolution is what to do. It says which subscriptions of other packages
	// stay below their head because they should not move, and why one cannot
	// stay.
	Resolution *Resolution `json:"resolution"`
	// Moved are the installed operators of other packages that cannot stay, in
	// the order in which their subscriptions are served. No answer that serves
	// the named packages as well moves fewer.
	Moved []Move `json:"moved,omitempty"`
	// Added are the names of the new operators that no subscription requests, in
	// order. No answer that moves no more adds fewer.
	Added []string `json:"added,omitempty"`
}

// Move is an installed operator that is replaced.
type Move struct {
	Subscription string `json:"subscription"` // the first subscription that has it installed
	From         string `json:"from"`         // the name of the installed CSV
	To           string `json:"to"`           // the name of the CSV that replaces it
	Why          string `json:"why"`          // why it cannot stay, as text to follow its name
}

// UpdateOnly resolves a request so that only the named packages move, and
// others only if that cannot be avoided. The rules are those of Resolve; the
// order of preference is another:
//
//  1. The subscriptions of the named packages are served first, in order, each
//     by the first of its candidates that is compatible with the earlier
//     choices, as Resolve would do without the others.
//  2. As few as possible of the other subscriptions' installed operators move.
//  3. As few as possible operators are added that no subscription requests.
//  4. Of what remains, the other subscriptions are served in order, preferably
//     by their installed operators; then the requirements, as in Resolve.
//
// These minimums are proven, not guessed: in steps 2 and 3, a search for an
// answer with one less found none.
//
// A subscription of another package that has nothing installed is served as
// usual; leave it out of the request if it should wait. PartialOK has no effect
// here.
//
// The errors are those of Resolve; a package without a subscription is also an
// error.
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

// A cost is a quantity that an answer minimizes.
type cost struct {
	count func(selected []*entry) int
	vars  func(n *encoding) []solver.Var // each selected one counts as one
}

// bound is the limit of a cost.
type bound struct {
	cost
	most int
}

// least finds the best answer for the named packages, and then lowers each cost
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

// within returns the best answer that contains some picks and stays within some
// bounds.
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

// picks returns the operators that serve the subscriptions of the named
// packages.
func (q *query) picks(selected []*entry) []*entry {
	var picks []*entry
	for _, s := range q.subs {
		if q.named[s.Spec.Package] {
			options := s.options() // the checker verified that one is selected
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

// unasked returns the entries that are from catalogs and are not candidates of
// any subscription.
func (q *query) unasked(entries []*entry) []*entry {
	asked := make(map[*entry]bool)
	for _, s := range q.subs {
		for _, e := range s.candidates {
			asked[e] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e *entry) bool { return e.isInstalled() || asked[e] })
}

// maxReasons is the maximum number of operators for which the reason is
// determined: each costs a resolution.
const maxReasons = 50

// moved returns the operators that should have stayed, and why they cannot.
func (q *query) moved(ctx context.Context, selected []*entry) ([]Move, error) {
	var moves []Move
	for _, e := range q.gone(selected) {
		m := Move{From: e.name}
		for _, s := range slices.Backward(q.subs) { // backward, so that the first one wins
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
