package olm

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver"
	"github.com/fairlead/fairlead/solver/rule"
)

// encoding is the solver problem for a query, or for a part of it.
//
// Its variables are the entries that can be reached: all installed operators,
// the candidates of each subscription, and the candidates of each requirement
// of a reached entry. Entries that cannot be reached are never chosen.
type encoding struct {
	rules
	q       *query
	problem solver.Problem
	vars    map[*entry]solver.Var
	reached []*entry     // in the order of discovery
	subs    []int        // the constraint that serves each subscription
	moves   []solver.Var // for each installed operator that should stay but need not: that it moves
	drops   []solver.Var // for each subscription: that it is left out; 0 if it must not be
	// excluding are the requirements that something is absent
	excluding []bundleNeeds
}

// rules are what a question decides about the operators that are reached: a query, or a
// question about several Extensions.
type rules interface {
	// refusal returns why an operator may not be chosen at all, as text to follow its name,
	// or "".
	refusal(e *entry) string
	// meeting returns what can meet a requirement of an operator, the most preferred first;
	// false if it need not be met.
	meeting(ctx context.Context, e *entry, n *need) ([]*entry, bool, error)
	// exempt reports whether an operator may be beside another one that it excludes.
	exempt(by, other *entry) bool
}

func newEncoding(q *query, r rules) *encoding {
	return &encoding{rules: r, q: q, vars: make(map[*entry]solver.Var)}
}

// encode builds the problem. Its initial demands are, in order, the installed
// operators that no subscription refers to, by name, and then that each
// subscription is served.
func (q *query) encode(ctx context.Context) (*encoding, error) {
	n := newEncoding(q, q)
	referenced := make(map[*entry]bool)
	for _, s := range q.subs {
		if s.current != nil && !(q.spare && s.invalid != "") { // an invalid subscription is left out
			referenced[s.current] = true
		}
	}
	for _, e := range q.installed {
		v := n.reach(e)
		if !referenced[e] {
			n.problem.Require(v, &csvExists{e})
		}
	}
	for _, s := range q.subs {
		n.subscription(s)
	}
	return n, n.complete(ctx)
}

// complete adds the constraints of all operators that are reached.
func (n *encoding) complete(ctx context.Context) error {
	for i := 0; i < len(n.reached); i++ { // grows during the loop
		if err := n.operator(ctx, n.reached[i]); err != nil {
			return err
		}
	}
	n.unique()
	return n.exclude(ctx)
}

// reach returns the variable of an entry, and ensures that its constraints will
// be added.
func (n *encoding) reach(e *entry) solver.Var {
	v, ok := n.vars[e]
	if !ok {
		v = n.problem.Var(e.id)
		n.vars[e] = v
		n.reached = append(n.reached, e)
	}
	return v
}

func (n *encoding) reachAll(entries []*entry) []solver.Var {
	vars := make([]solver.Var, len(entries))
	for i, e := range entries {
		vars[i] = n.reach(e)
	}
	return vars
}

// subscription adds the constraints that s is served, by a candidate or else by
// its installed operator, and that an update excludes the operator that it
// replaces.
func (n *encoding) subscription(s *subscription) {
	n.subs = append(n.subs, n.problem.NumConstraints())
	drop := n.drop(s)
	if s.invalid != "" {
		n.problem.Any(drop, &subInvalid{s})
		return
	}
	options := n.reachAll(s.options())
	if n.q.holds(s) {
		n.hold(s.current)
	}
	lits := make([]solver.Lit, len(options))
	for i, v := range options {
		lits[i] = v.Yes()
	}
	n.problem.Any(append(lits, drop...), &subNeeds{s})
	if s.current == nil {
		return
	}
	current := n.vars[s.current]
	for i, e := range s.candidates {
		n.problem.Exclude(options[i], current, &replacement{e, s.current})
	}
}

// drop returns the last option of a subscription: that it is left out, if it
// may be. A valid subscription with an installed operator must be served.
func (n *encoding) drop(s *subscription) []solver.Lit {
	if !n.q.spare || s.current != nil && s.invalid == "" {
		n.drops = append(n.drops, 0)
		return nil
	}
	v := n.problem.Var("leave out " + s.Name)
	n.drops = append(n.drops, v)
	return []solver.Lit{v.Yes()}
}

// hold adds a choice before all others: an operator stays, or else it moves.
func (n *encoding) hold(current *entry) {
	move := n.problem.Var("move " + current.id)
	if !slices.Contains(n.moves, move) {
		n.moves = append(n.moves, move)
		n.problem.Any([]solver.Lit{n.vars[current].Yes(), move.Yes()}, nil)
	}
}

// operator adds the constraints of an entry by itself: whether it may be chosen
// at all, and its requirements in property order.
func (n *encoding) operator(ctx context.Context, e *entry) error {
	v := n.vars[e]
	if text := n.refusal(e); text != "" {
		n.problem.Forbid(v, &refused{e, text})
	}
	for _, need := range e.facts().needs {
		if need.banned != nil && !n.q.waived[need] {
			n.excluding = append(n.excluding, bundleNeeds{by: e, need: need})
			continue
		}
		candidates, counts, err := n.meeting(ctx, e, need)
		if err != nil {
			return err
		}
		if !counts {
			continue
		}
		n.problem.Depend(v, n.reachAll(candidates), &bundleNeeds{e, need, candidates})
	}
	return nil
}

func (q *query) meeting(ctx context.Context, e *entry, n *need) ([]*entry, bool, error) {
	if q.waived[n] {
		return nil, false, nil
	}
	all, err := q.candidatesFor(ctx, e, n)
	return all, true, err
}

func (q *query) exempt(_, _ *entry) bool { return false }

// refusal returns why an operator may not be chosen at all, as text to follow
// its name, or "". An installed operator with a malformed requirement is
// already running and may stay.
func (q *query) refusal(e *entry) string {
	f := e.facts()
	switch {
	case f.problem != nil && !e.isInstalled():
		return "is malformed: " + f.problem.Error()
	case f.deprecated:
		return "is deprecated"
	case q.opts.Forbid != nil && !e.isInstalled():
		if text := q.opts.Forbid(candidateOf(e)); text != "" {
			return "may not be chosen: " + text
		}
	}
	if !e.isInstalled() {
		if text := q.holdsBack(e); text != "" {
			return text
		}
	}
	return q.exclusions.against(e)
}

// candidatesFor lists the operators that can meet a requirement of e, the most
// preferred first: installed operators by name; then e's own catalog; then the
// others in order of preference.
func (q *query) candidatesFor(ctx context.Context, e *entry, n *need) (all []*entry, err error) {
	defer func() {
		var over *rule.BudgetError
		if err != nil && errors.As(context.Cause(ctx), &over) {
			err = &rule.BudgetError{Budget: over.Budget, Source: over.Source, Of: e.name + " of package " + e.pkg}
		}
	}()
	for _, i := range q.installed {
		if ok, _ := n.metBy(ctx, i.pkg, i.facts()); ok {
			all = append(all, i)
		}
	}
	add := func(s *source) error {
		m, err := s.match(ctx, n)
		if err != nil {
			return err
		}
		for _, broken := range m.broken {
			if !q.opts.PartialOK {
				return broken
			}
			q.left[broken] = true
		}
		if len(all) == 0 {
			all = m.entries // shared: read only
		} else {
			all = append(slices.Clip(all), m.entries...)
		}
		return nil
	}
	if e.source != nil && slices.Contains(q.sources, e.source) {
		if err := add(e.source); err != nil {
			return nil, err
		}
	}
	for _, s := range q.sources {
		if s != e.source {
			if err := add(s); err != nil {
				return nil, err
			}
		}
	}
	return all, ctx.Err()
}

// unique adds the constraints that there is at most one operator of a package,
// and at most one provider of an API. The latter is implied if all providers
// are of one package.
func (n *encoding) unique() {
	packages := make(map[string][]*entry)
	for _, e := range n.reached {
		f := e.facts()
		for i, p := range f.packages {
			if !slices.ContainsFunc(f.packages[:i], func(o packageFact) bool { return o.name == p.name }) {
				packages[p.name] = append(packages[p.name], e)
			}
		}
	}
	for _, name := range sortedKeys(packages, strings.Compare) {
		if entries := packages[name]; len(entries) > 1 {
			n.problem.Limit(1, n.reachAll(entries), &onePackage{name, entries})
		}
	}
	apis := n.sharedAPIs()
	for _, g := range sortedKeys(apis, compareGVK) {
		if entries := apis[g]; len(entries) > 1 {
			n.problem.Limit(1, n.reachAll(entries), &oneProvider{g, entries})
		}
	}
}

// sharedAPIs returns the APIs whose providers are not all of one package, with
// the providers. Most versions of a package provide the same APIs as the
// version before, and are skipped in the first pass.
func (n *encoding) sharedAPIs() map[catalog.GVK][]*entry {
	owners := make(map[catalog.GVK]string) // the one package of all providers so far; "" if there are several
	shared := make(map[catalog.GVK][]*entry)
	var before *facts
	for _, e := range n.reached {
		f := e.facts()
		owner := f.onlyPackage()
		if before != nil && owner != "" && owner == before.onlyPackage() && slices.Equal(f.gvks, before.gvks) {
			continue
		}
		before = f
		for _, g := range f.gvks {
			switch known, ok := owners[g]; {
			case !ok:
				owners[g] = owner
			case known == "" || known != owner:
				owners[g] = ""
				shared[g] = nil
			}
		}
	}
	if len(shared) == 0 {
		return nil
	}
	for _, e := range n.reached {
		for _, g := range e.facts().gvks {
			if providers, ok := shared[g]; ok {
				shared[g] = append(providers, e)
			}
		}
	}
	return shared
}

// exclude adds the constraints that a bundle is not selected together with an
// operator that it excludes.
func (n *encoding) exclude(ctx context.Context) error {
	for _, x := range n.excluding {
		for _, e := range n.reached {
			matches, err := x.need.banned.Match(ctx, e.facts().prepared())
			if err != nil {
				return err
			}
			if matches && e != x.by && !n.exempt(x.by, e) {
				n.problem.Exclude(n.vars[x.by], n.vars[e], &exclusion{x.by, x.need, e})
			}
		}
	}
	return nil
}
