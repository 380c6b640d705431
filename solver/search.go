package solver

import (
	"context"
	"slices"
)

// A search solves the parts of a problem in which the greedy picks met a dead
// end.
type search struct {
	x     *index
	w     *change
	parts []part
	of    []int32 // by variable: 1 + its part, or 0
	// unsettled are the parts with a dead end, ascending.
	unsettled []int32
	// given returns what is assumed for a part.
	given  func(part int32) []Lit
	cdcl   *cdcl // for all unsettled parts
	budget *budget
}

// partOf returns the part that contains a constraint, or -1 if the constraint
// is known to be met.
func (s *search) partOf(con int32) int32 {
	k := &s.x.cons[con]
	if k.head != 0 {
		return s.of[k.head] - 1
	}
	if k.lits < k.end {
		return s.of[s.x.lits[k.lits].Var()] - 1
	}
	return int32(slices.IndexFunc(s.parts, func(q part) bool { return len(q.vars) == 0 && q.cons[0] == con }))
}

// partOfDemand is like partOf, but also accepts what a change requires.
func (s *search) partOfDemand(con int32) int32 {
	if n := int32(len(s.x.cons)); con >= n {
		return s.of[s.w.require[con-n]] - 1
	}
	return s.partOf(con)
}

// find determines the unsettled parts from the dead ends.
func (s *search) find(dead []int32) {
	for _, con := range dead {
		if q := s.partOfDemand(con); len(s.unsettled) == 0 || s.unsettled[len(s.unsettled)-1] != q {
			s.unsettled = append(s.unsettled, q)
		}
	}
	slices.Sort(s.unsettled)
	s.unsettled = slices.Compact(s.unsettled)
}

func (s *search) isUnsettled(v Var) bool {
	if s.of[v] == 0 {
		return false
	}
	_, in := slices.BinarySearch(s.unsettled, s.of[v]-1)
	return in
}

// roots returns, for each unsettled part, the demands that nothing triggers. If
// the poll is over, it returns early.
func (s *search) roots(poll *poll) [][]int32 {
	all := make([][]int32, len(s.unsettled))
	n := int32(len(s.x.cons))
	add := func(con int32) {
		if poll.over() {
			return
		}
		if at, in := slices.BinarySearch(s.unsettled, s.partOfDemand(con)); in {
			all[at] = append(all[at], con)
		}
	}
	for _, id := range s.x.roots {
		if !s.w.drops(id) {
			add(id)
		}
	}
	if s.w != nil {
		for i := range s.w.require {
			add(n + int32(i))
		}
	}
	return all
}

// solve completes the given greedy picks. The error is errUnsat or
// *IncompleteError.
func (s *search) solve(ctx context.Context, greedy *partial) (*Solution, error) {
	poll := poll{ctx: ctx}
	s.cdcl.poll = poll
	own := s.x.ask(s.w)
	defer own.done(s.w)
	all := s.roots(&poll)
	if poll.ended {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	for i, roots := range all {
		own.queue = append(own.queue, roots...)
		q := s.unsettled[i]
		o := newOrdered(s.cdcl, own, s.given(q), s.budget)
		switch o.run() {
		case unsat:
			return nil, errUnsat
		case unknown:
			return nil, s.incomplete(ctx, greedy, own, o, q)
		}
	}
	answer := s.x.ask(s.w)
	defer answer.done(s.w)
	answer.begin()
	answer.replay(&poll, func(v Var) bool { return own.picked[v] || greedy.picked[v] && !s.isUnsettled(v) })
	return newSolution(ctx, s.x.p, s.w, answer.log)
}

// promptMax is the number of literals up to which a selection is still put
// together and checked after the end of the context, which takes a few
// milliseconds.
const promptMax = 1 << 19

// incomplete returns the error of a search that was stopped in a part, with the
// best selection so far if every part has one.
func (s *search) incomplete(ctx context.Context, greedy, own *partial, stopped *ordered, part int32) error {
	e := &IncompleteError{Err: ctx.Err()}
	if stopped.model == nil || part != s.unsettled[len(s.unsettled)-1] || len(s.x.lits) > promptMax {
		return e
	}
	in := func(v Var) bool {
		switch {
		case s.of[v]-1 == part:
			return stopped.model.has(v)
		case s.isUnsettled(v):
			return own.picked[v]
		}
		return greedy.picked[v]
	}
	return s.best(ctx, e, in, func(v Var) bool { return s.of[v]-1 == part }, stopped.settled)
}

// best adds to the error the selection of what is in, of which those choices are
// known to be the best that come before choice number settled in the part that was
// not solved.
func (s *search) best(ctx context.Context, e *IncompleteError, in, unsolved func(v Var) bool, settled int) error {
	all := s.x.ask(s.w)
	defer all.done(s.w)
	all.begin()
	ctx = context.WithoutCancel(ctx)
	all.replay(&poll{ctx: ctx}, in)
	best, err := newSolution(ctx, s.x.p, s.w, all.log)
	if err != nil {
		return err
	}
	e.Best, e.Choices = best, len(all.log)
	for _, d := range all.log {
		if unsolved(d.pick) {
			if settled--; settled < 0 {
				break
			}
		}
		e.Proven++
	}
	return e
}
