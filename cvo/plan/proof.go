package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/solver"
)

// Check verifies that a plan is valid for the question, and that none is better: it
// encodes the question again, checks the proofs with [solver.CheckOptimum], which
// uses nothing of what found them, and follows the plan's steps in the encoding.
// The error says what is wrong.
func Check(ctx context.Context, s *Situation, goal *Goal, policy *Policy, p *Plan) error {
	in := newInput(s, goal, policy)
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
		if b.Part != x.name {
			return fmt.Errorf("proof %d is about %q, not about %q", i+1, b.Part, x.name)
		}
		least, err := solver.CheckOptimum(ctx, x.p, x.criteria(in.Policy), b.Certificate)
		if err != nil {
			return fmt.Errorf("it is not proven that %s cannot cost less: %w", x.name, err)
		}
		n, err := x.follow(ctx, in.Policy, p, least)
		if err != nil {
			return err
		}
		used += n
		for k, cost := range least {
			sum[k] += int(cost)
		}
	}
	all, cost := []int{p.Cost.Unknown, p.Cost.Steps, p.Cost.Restarts}, []int{}
	for _, k := range in.Policy.order() {
		cost = append(cost, all[k])
	}
	if used != len(p.Steps) || sum[0] != cost[0] || sum[1] != cost[1] || sum[2] != cost[2] {
		return fmt.Errorf("the costs of the plan are %v, but those of its parts are %v, with %d of %d steps", cost, sum, used, len(p.Steps))
	}
	return nil
}

// follow restricts a part to the steps of a plan: that must be possible at the
// stated costs, or, if there are none, at any. It returns how many of the steps
// belong to the part, which cannot be used for another plan after that.
func (x *part) follow(ctx context.Context, policy *Policy, p *Plan, costs []int64) (int, error) {
	n, taken := 0, map[solver.Var]bool{}
	for _, c := range x.choices {
		if !slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return c.is(&s) }) {
			x.p.Forbid(c.v, nil)
			continue
		}
		n++
		taken[c.v] = true
		x.p.Require(c.v, nil)
	}
	for k, cost := range costs {
		c := x.criteria(policy)[k]
		if policy.order()[k] == byUnknown { // this criterion does not count steps
			x.p.Limit(int(cost), x.unknown, nil)
			continue
		}
		total := int64(0)
		for _, t := range c.Terms {
			if taken[t.Lit.Var()] {
				total += t.Weight
			}
		}
		if total != cost {
			return 0, fmt.Errorf("the steps of %s cost %d by %s, not %d", x.name, total, c.Name, cost)
		}
	}
	if _, err := solver.Solve(ctx, x.p, bounds(policy)); err != nil {
		return 0, fmt.Errorf("the steps of %s do not lead to the goal: %w", x.name, err)
	}
	return n, nil
}
