package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/solver"
)

// prove works out the proofs that nothing is better: for each criterion, that with
// those before at their cost less than its own is impossible.
func (x *part) prove(ctx context.Context, policy *Policy) error {
	for i, cost := range x.cost {
		if cost == 0 {
			x.proof = append(x.proof, nil)
			continue
		}
		p := x.better(policy, x.cost, i)
		r, err := p.Refute(ctx)
		if err != nil {
			return fmt.Errorf("that no plan of the part %q is better was not proven: %w", x.name, err)
		}
		x.proof = append(x.proof, r)
	}
	return nil
}

// better returns the problem of a part with the demand that it costs less by one
// criterion, and no more by those before. It adds to the problem of the part.
func (x *part) better(policy *Policy, cost []int, i int) *solver.Problem {
	fresh := x.build()
	for k, c := range fresh.criteria(policy)[:i+1] {
		most := cost[k]
		if k == i {
			most--
		}
		var list []solver.Var
		for _, t := range c.Terms {
			list = append(list, t.Lit.Var())
			for range t.Weight - 1 { // as many that hold with it
				v := fresh.p.NewVars(1)
				fresh.imply(t.Lit.Var(), v)
				list = append(list, v)
			}
		}
		fresh.p.Limit(most, list, nil)
	}
	return fresh.p
}

// Check verifies that a plan is one for the question, and that none is better: it
// encodes the question again, follows the plan's steps in it, and goes through the
// proofs with [solver.CheckRefutation], which uses nothing of what found them. The
// error says what is wrong.
func Check(ctx context.Context, s *Situation, goal *Goal, policy *Policy, p *Plan) error {
	in := &input{s, goal, policy}
	if err := in.check(); err != nil {
		return err
	}
	m, bad := newModel(in, p.To)
	if bad != nil {
		return fmt.Errorf("there is no plan to %s: %s", p.To, bad[0])
	}
	if err := m.tooMany(); err != nil {
		return err
	}
	parts := m.parts()
	if len(p.Proof) != len(parts) {
		return fmt.Errorf("the plan has proofs for %d parts, and the problem has %d", len(p.Proof), len(parts))
	}
	sum := make([]int, 3)
	used := 0
	for i, x := range parts {
		b := &p.Proof[i]
		if b.Part != x.name || len(b.Cost) != 3 || len(b.Refutations) != 3 {
			return fmt.Errorf("proof %d is about %q and not about %q", i+1, b.Part, x.name)
		}
		n, err := x.follow(ctx, in.Policy, p, b.Cost)
		if err != nil {
			return err
		}
		used += n
		for k, cost := range b.Cost {
			sum[k] += cost
			if cost == 0 {
				continue
			}
			if b.Refutations[k] == nil {
				return fmt.Errorf("that %s cannot do with less is not proven", x.name)
			}
			if err := solver.CheckRefutation(ctx, x.better(in.Policy, b.Cost, k), b.Refutations[k]); err != nil {
				return fmt.Errorf("that %s cannot do with less is not proven: %w", x.name, err)
			}
		}
	}
	cost := []int{p.Cost.Unknown, p.Cost.Steps, p.Cost.Restarts}
	if in.Policy.Prefer == LeastDisruption {
		cost[1], cost[2] = cost[2], cost[1]
	}
	if used != len(p.Steps) || sum[0] != cost[0] || sum[1] != cost[1] || sum[2] != cost[2] {
		return fmt.Errorf("the costs of the plan are %v and those of its parts %v, with %d of %d steps", cost, sum, used, len(p.Steps))
	}
	return nil
}

// follow has the steps of a plan in the problem of a part, and no others: that must
// be possible at the costs stated. It returns how many of the steps are of the part.
func (x *part) follow(ctx context.Context, policy *Policy, p *Plan, cost []int) (int, error) {
	fresh := x.build()
	n, taken := 0, map[solver.Var]bool{}
	for _, c := range fresh.choices {
		if !slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return c.is(&s) }) {
			fresh.p.Forbid(c.v, nil)
			continue
		}
		n++
		taken[c.v] = true
		fresh.p.Require(c.v, nil)
	}
	for k, c := range fresh.criteria(policy) {
		if cost == nil {
			break // any cost will do
		}
		if k == 0 {
			var list []solver.Var
			for _, t := range c.Terms {
				list = append(list, t.Lit.Var())
			}
			fresh.p.Limit(cost[0], list, nil)
			continue
		}
		total := 0
		for _, t := range c.Terms {
			if taken[t.Lit.Var()] {
				total += int(t.Weight)
			}
		}
		if total != cost[k] {
			return 0, fmt.Errorf("the steps of %s cost %d by %s, and not %d", x.name, total, c.Name, cost[k])
		}
	}
	if _, err := solver.Solve(ctx, fresh.p, bounds(policy)); err != nil {
		return 0, fmt.Errorf("the steps of %s do not lead to the goal: %w", x.name, err)
	}
	return n, nil
}
