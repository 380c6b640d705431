package solver

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

// Options bound the work of [Solve]. The zero value, like nil, sets no bounds.
type Options struct {
	// MaxConflicts bounds the conflicts that the search may meet, all parts of
	// the problem together. It is looked at between steps of the search and
	// every 20,000 propagations, so that it can be overrun by that much. 0
	// means no bound.
	MaxConflicts int64
	// Timeout bounds the time, as a deadline of the context does. 0 means no
	// bound.
	Timeout time.Duration
}

// Solve returns the best selection that meets all constraints of p.
//
// The best one is found by this rule:
//
//  1. The demands that nothing triggers come first, in the order of adding:
//     what is required, and clauses that deny nothing.
//  2. A demand that something picked meets already is passed over. Otherwise
//     the first of its candidates is picked with which, and with all earlier
//     picks, the constraints can still be met.
//  3. A pick appends the demands that it completes to the queue, in the order
//     of adding: its dependencies, and clauses whose last denied variable it is.
//
// So an earlier choice is never made worse for the sake of a later one, and
// nothing is selected that no demand calls for. The answer depends on the
// problem alone: not on how the search went, and not on the order in which
// parts of the problem that have nothing in common were added.
//
// The error is
//   - [*ProblemError] when p is malformed
//   - [*UnsatError] when no selection meets all constraints
//   - [*IncompleteError] when ctx ended or a bound of opts was met first
//
// Every answer is checked, by code that knows nothing of how it was found, against every
// constraint that it could break.
//
// Cost: linear in the size of the problem where the first candidates do, or
// where a single constraint refuses those that do not. Otherwise, in the
// independent piece of the problem concerned and on what the requirements reach
// only: a search by conflict-driven clause learning. The worst case is exponential: bound
// it by ctx or opts. Solve returns within a few milliseconds of the end of ctx.
func Solve(ctx context.Context, p *Problem, opts *Options) (*Solution, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := p.malformed(); err != nil {
		return nil, err
	}
	ctx, cancel := bounded(ctx, opts)
	defer cancel()
	if ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	index := indexOf(ctx, p)
	if index == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	greedy, sol, err := straight(ctx, index, nil)
	if greedy == nil {
		return sol, err
	}
	defer greedy.done(nil)
	search := newSearch(ctx, index, greedy.dead, &budget{limit: opts.MaxConflicts})
	if search == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	sol, err = search.solve(ctx, greedy)
	if err == errUnsat {
		return nil, newUnsatError(p, nil, search.isUnsettled)
	}
	return sol, err
}

// errUnsat says that there is no answer.
var errUnsat = errors.New("no selection meets all constraints")

// straight solves what takes no search. Where there is a dead end it returns the
// greedy picks, which must be given back with done.
func straight(ctx context.Context, x *index, w *change) (greedy *partial, sol *Solution, err error) {
	s := x.ask(w)
	s.begin()
	poll := poll{ctx: ctx}
	s.greedy(&poll)
	switch {
	case poll.ended:
		err = &IncompleteError{Err: ctx.Err()}
	case len(s.dead) > 0:
		return s, nil, nil
	default:
		sol, err = newSolution(ctx, x.p, w, s.log)
	}
	s.done(w)
	return nil, sol, err
}

// newSearch prepares a search that nothing is kept of, in what the requirements
// reach. It is nil when ctx ended.
func newSearch(ctx context.Context, x *index, dead []int32, b *budget) *search {
	s := &search{x: x, parts: parts(ctx, x), given: func(int32) []Lit { return nil }, budget: b}
	s.of = numbered(ctx, x, s.parts)
	if ctx.Err() != nil { // the parts may not be whole
		return nil
	}
	s.find(dead)
	var cons []int32
	for _, q := range s.unsettled {
		cons = append(cons, s.parts[q].cons...)
	}
	s.cdcl = newCDCL(ctx, x, cons, 0, nil)
	if s.cdcl.poll.ended {
		return nil
	}
	return s
}

// newSolution makes the choices the solution of the changed problem, once they
// are checked.
func newSolution(ctx context.Context, p *Problem, w *change, log []decision) (*Solution, error) {
	bad := examine(ctx, p, p.judge(ctx), w, log)
	if ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	if bad != "" {
		return nil, fmt.Errorf("solver: internal error: the answer found breaks %s", bad)
	}
	return &Solution{base: p, change: w, log: slices.Clone(log)}, nil
}

// A Solution is a selection that meets all constraints of its problem. It may
// be read by several goroutines at once.
type Solution struct {
	base   *Problem
	change *change
	log    []decision

	sortOnce sync.Once
	sorted   []Var

	making sync.Mutex
	made   *Problem // with the change
}

// Problem returns the problem that s solves: with the change made, where a
// [Session] found it. Do not add to it.
//
// Cost: with a change, a copy of the problem the first time.
func (s *Solution) Problem() *Problem {
	return s.problem(&poll{ctx: context.Background()})
}

// problem is Problem, and returns nil when the poll is over.
func (s *Solution) problem(poll *poll) *Problem {
	if s.change == nil {
		return s.base
	}
	s.making.Lock()
	defer s.making.Unlock()
	if s.made == nil {
		s.made = s.base.changed(poll, s.change)
	}
	return s.made
}

// Has reports whether v is selected.
func (s *Solution) Has(v Var) bool {
	_, in := slices.BinarySearch(s.vars(), v)
	return in
}

// Len returns how many variables are selected.
func (s *Solution) Len() int { return len(s.log) }

// Selected iterates over the selected variables, ascending.
func (s *Solution) Selected() iter.Seq[Var] { return slices.Values(s.vars()) }

// vars returns the selected variables, ascending.
func (s *Solution) vars() []Var {
	s.sortOnce.Do(func() {
		s.sorted = make([]Var, len(s.log))
		for i, d := range s.log {
			s.sorted[i] = d.pick
		}
		slices.Sort(s.sorted)
	})
	return s.sorted
}

// An IncompleteError reports that the search ended before the best selection
// was found.
type IncompleteError struct {
	// Best is a selection that meets all constraints, or nil when none had been
	// found yet, or the problem is so large that there was no time to check it.
	Best *Solution
	// Choices is how many choices Best makes, Proven how many of them, counted
	// from the first, are known to be those of the best selection.
	Choices, Proven int
	// Err is the error of the context, or nil when a bound of the options was
	// met.
	Err error
}

// Error says how far the search came, and what ended it.
func (e *IncompleteError) Error() string {
	why := "the bound on conflicts was met"
	if e.Err != nil {
		why = e.Err.Error()
	}
	if e.Best == nil {
		return "solver: ended before any selection was found: " + why + "; allow more time or conflicts"
	}
	return fmt.Sprintf("solver: ended with %d of %d choices proven best: %s; allow more time or conflicts, or take the selection found",
		e.Proven, e.Choices, why)
}

// Unwrap returns Err.
func (e *IncompleteError) Unwrap() error { return e.Err }
