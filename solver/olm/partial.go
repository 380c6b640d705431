package olm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/solver"
)

// portions is the result of a query in parts.
type portions struct {
	selected []*entry        // what is chosen and what stays, in the parts that could be solved
	served   []*subscription // the subscriptions that are served
	left     []leftOut       // the other subscriptions
	blocked  []*UnsatError   // the conflicts that block these, each once
	kept     []*entry        // installed operators of parts that could not be solved at all
	keptBy   []*UnsatError   // for each of kept, the conflict of its part
}

// leftOut is a subscription that is not served, and why.
type leftOut struct {
	sub *subscription
	why *UnsatError
}

// solveParts solves each independent group of subscriptions and installed
// operators by itself. Since no rule spans groups, each gets the same result as
// without the others.
func (q *query) solveParts(ctx context.Context, n *encoding) (*portions, error) {
	p := &portions{}
	for _, part := range n.parts() {
		if err := part.serveMost(ctx, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// serveMost serves as many subscriptions of a part as possible, preferring
// those that come first; installed operators must stay or move in any case. It
// is proven that no more can be served: a search for one more found no answer.
func (q *query) serveMost(ctx context.Context, p *portions) error {
	selected, err := q.solve(ctx)
	var unsat *UnsatError
	if err == nil {
		p.selected, p.served = append(p.selected, selected...), append(p.served, q.subs...)
		return nil
	}
	if !errors.As(err, &unsat) {
		return err
	}
	var best *query
	for most := len(q.subs); most >= 0; {
		trial, chosen, err := q.leaving(ctx, most)
		var none *UnsatError
		if errors.As(err, &none) {
			break
		}
		if err != nil {
			return err
		}
		best, selected = trial, chosen
		most = len(q.subs) - len(trial.subs) - 1
	}
	if best == nil || len(q.subs) == 0 { // the installed operators themselves conflict
		p.blocked, p.kept = append(p.blocked, unsat), append(p.kept, q.installed...)
		for range q.installed {
			p.keptBy = append(p.keptBy, unsat)
		}
		for _, s := range q.subs {
			p.left = append(p.left, leftOut{s, unsat})
		}
		return nil
	}
	p.selected, p.served = append(p.selected, selected...), append(p.served, best.subs...)
	return q.leaveOut(ctx, best, p)
}

// leaving returns the best answer that leaves out at most the given number of
// subscriptions, and the query for those that it serves.
func (q *query) leaving(ctx context.Context, most int) (*query, []*entry, error) {
	may := *q
	may.spare = true
	n, err := may.encode(ctx)
	if err != nil {
		return nil, nil, err
	}
	n.problem.Limit(most, slices.DeleteFunc(slices.Clone(n.drops), func(v solver.Var) bool { return v == 0 }), nil)
	solution, err := solver.Solve(ctx, &n.problem, q.opts.Solver)
	var none *solver.UnsatError
	if errors.As(err, &none) {
		return nil, nil, &UnsatError{Namespace: q.req.Namespace, problem: n, conflict: none}
	}
	if err != nil {
		return nil, nil, err
	}
	served := *q
	served.subs = nil
	for i, s := range q.subs {
		if n.drops[i] == 0 || !solution.Has(n.drops[i]) {
			served.subs = append(served.subs, s)
		}
	}
	selected := n.selection(solution)
	if err := served.check(ctx, selected); err != nil {
		return nil, nil, fmt.Errorf("the answer found is wrong, and was not returned: %w", err)
	}
	return &served, selected, nil
}

// leaveOut records for each subscription that is not served why it cannot be
// served together with those that are.
func (q *query) leaveOut(ctx context.Context, best *query, p *portions) error {
	for _, s := range q.subs {
		if slices.Contains(best.subs, s) {
			continue
		}
		trial := *q
		trial.subs = slices.DeleteFunc(slices.Clone(q.subs), func(o *subscription) bool { return o != s && !slices.Contains(best.subs, o) })
		_, err := trial.solve(ctx)
		var why *UnsatError
		switch {
		case errors.As(err, &why):
			p.left, p.blocked = append(p.left, leftOut{s, why}), append(p.blocked, why)
		case err != nil:
			return err
		default:
			return fmt.Errorf("subscription %s: it could be served, and was left out", s.Name)
		}
	}
	return nil
}

// questions sets for each conflict the request that advice is tried against:
// the served subscriptions, those that the conflict leaves out, and the
// installed operators except those of other conflicts.
func (q *query) questions(p *portions) {
	for _, why := range p.blocked {
		req := *q.req
		req.Subscriptions = nil
		req.Installed = slices.DeleteFunc(slices.Clone(req.Installed), func(c ClusterServiceVersion) bool {
			at := slices.IndexFunc(p.kept, func(e *entry) bool { return e.name == c.Name })
			return at >= 0 && p.keptBy[at] != why // of another conflict
		})
		for _, s := range p.served {
			req.Subscriptions = append(req.Subscriptions, *s.Subscription)
		}
		for _, l := range p.left {
			if l.why == why {
				req.Subscriptions = append(req.Subscriptions, *l.sub.Subscription)
			}
		}
		why.request = &req
	}
}

// resultOf describes the result of a query in parts.
func (q *query) resultOf(ctx context.Context, p *portions) (*Resolution, error) {
	all := *q
	all.subs = p.served
	res, err := all.result(ctx, p.selected)
	if err != nil {
		return nil, err
	}
	q.questions(p)
	served := make(map[string]Outcome)
	for _, o := range res.Subscriptions {
		served[o.Subscription] = o
	}
	res.Subscriptions = nil
	for _, s := range q.subs {
		o, ok := served[s.Name]
		if !ok {
			o = Outcome{Subscription: s.Name}
			for _, l := range p.left {
				if l.sub.Name == s.Name {
					o.Blocked = l.why
				}
			}
		}
		res.Subscriptions = append(res.Subscriptions, o)
	}
	res.Blocked = p.blocked
	return res, nil
}

// parts divides the query into independent parts: two variables belong together
// if a constraint contains both.
func (n *encoding) parts() []*query {
	group := make([]solver.Var, n.problem.NumVars()+1)
	for v := range group {
		group[v] = solver.Var(v)
	}
	find := func(v solver.Var) solver.Var {
		for group[v] != v {
			group[v] = group[group[v]]
			v = group[v]
		}
		return v
	}
	for id := range n.problem.NumConstraints() {
		lits := n.problem.Constraint(id).Lits
		for _, l := range lits[min(1, len(lits)):] {
			group[find(l.Var())] = find(lits[0].Var())
		}
	}
	var parts []*query
	byRoot := make(map[solver.Var]*query)
	part := func(v solver.Var) *query {
		p := byRoot[find(v)]
		if p == nil || v == 0 { // 0: a subscription that nothing can serve
			p = &query{Resolver: n.q.Resolver, req: n.q.req, sources: n.q.sources, exclusions: n.q.exclusions, named: n.q.named, known: n.q.known, left: n.q.left}
			byRoot[find(v)] = p
			parts = append(parts, p)
		}
		return p
	}
	for i, s := range n.q.subs {
		var v solver.Var
		switch lits := n.problem.Constraint(n.subs[i]).Lits; {
		case len(lits) > 0:
			v = lits[0].Var()
		case s.current != nil:
			v = n.vars[s.current]
		}
		p := part(v)
		p.subs = append(p.subs, s)
	}
	for _, e := range n.q.installed {
		p := part(n.vars[e])
		p.installed = append(p.installed, e)
	}
	return parts
}
