package solver

import (
	"context"
	"errors"
)

// This file contains the search in parts that are small beside the problem: they
// become a problem of their own, so that the search costs what they are, not what
// the problem is. Parts are independent, and constraints and candidates keep their
// order, so the choices are the same.

// apartMin is how many times as large as its unsettled parts a problem has to be.
const apartMin = 4

// isApart reports whether the unsettled parts are small. A question that changes
// the problem has a search of its own.
func (s *search) isApart() bool {
	size := 0
	for _, q := range s.unsettled {
		size += len(s.parts[q].vars)
	}
	return s.w == nil && apartMin*size < s.x.size
}

// apart solves the unsettled parts, and completes the greedy picks of the others.
// The error is that of solve.
func (s *search) apart(ctx context.Context, greedy *partial) (*Solution, error) {
	own := make([]part, 0, len(s.unsettled))
	for _, q := range s.unsettled {
		own = append(own, s.parts[q])
	}
	poll := poll{ctx: ctx}
	p, vars := s.x.p.restricted(&poll, constraintsOf(ctx, s.x, own))
	if p == nil || ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	found, err := searched(ctx, p, s.budget)
	incomplete, stopped := errors.AsType[*IncompleteError](err)
	if stopped {
		found = incomplete.Best
	}
	if found == nil {
		return nil, err
	}
	picked := make(map[Var]bool, len(found.log))
	for _, d := range found.log {
		picked[vars[d.pick-1]] = true
	}
	in := func(v Var) bool { return picked[v] || greedy.picked[v] && !s.isUnsettled(v) }
	if stopped {
		e := &IncompleteError{Err: incomplete.Err}
		if len(s.x.lits) > promptMax {
			return nil, e
		}
		return nil, s.best(ctx, e, in, s.isUnsettled, incomplete.Proven)
	}
	answer := s.x.ask(nil)
	defer answer.done(nil)
	answer.begin()
	answer.replay(&poll, in)
	return newSolution(ctx, s.x.p, nil, answer.log)
}

// searched solves a problem that has a dead end.
func searched(ctx context.Context, p *Problem, b *budget) (*Solution, error) {
	x := newIndex(ctx, p)
	if x == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	greedy, sol, err := straight(ctx, x, nil)
	if greedy == nil {
		return sol, err
	}
	s := newSearch(ctx, x, greedy.dead, b)
	if s == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	return s.whole(ctx, greedy)
}
