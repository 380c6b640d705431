package olm

import (
	"context"
	"errors"

	"github.com/fairlead/fairlead/solver"
)

// portions is what became of a query in parts.
type portions struct {
	selected []*entry        // what is chosen and what stays, of the parts that could be solved
	served   []*subscription // the subscriptions of those
	blocked  []*UnsatError   // why the others could not
	kept     []*entry        // what is installed in the others
}

// solveParts solves each group of subscriptions and installed operators that
// have nothing to do with the others by itself, and leaves out the groups that
// are in conflict. Since no rule reaches across groups, the others get what they
// would get in the absence of the conflict.
func (q *query) solveParts(ctx context.Context, n *encoding) (*portions, error) {
	p := &portions{}
	for _, part := range n.parts() {
		got, err := part.solve(ctx)
		var unsat *UnsatError
		switch {
		case errors.As(err, &unsat):
			p.blocked = append(p.blocked, unsat)
			p.kept = append(p.kept, part.installed...)
			continue
		case err != nil:
			return nil, err
		}
		p.selected = append(p.selected, got...)
		p.served = append(p.served, part.subs...)
	}
	return p, nil
}

// resultOf puts into words what became of a query in parts.
func (q *query) resultOf(ctx context.Context, p *portions) (*Resolution, error) {
	all := *q
	all.subs = p.served
	res, err := all.result(ctx, p.selected)
	if err != nil {
		return nil, err
	}
	res.Blocked = p.blocked
	return res, nil
}

// parts divides the query at the seams of its problem: two variables belong
// together if a constraint speaks of both.
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
			p = &query{Resolver: n.q.Resolver, req: n.q.req, sources: n.q.sources, bars: n.q.bars, named: n.q.named, known: n.q.known, left: n.q.left}
			byRoot[find(v)] = p
			parts = append(parts, p)
		}
		return p
	}
	for i, s := range n.q.subs {
		var v solver.Var
		if lits := n.problem.Constraint(n.subs[i]).Lits; len(lits) > 0 {
			v = lits[0].Var()
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
