package solver

import (
	"context"
	"fmt"
	"iter"
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
// Every answer is checked against every constraint, by code that knows nothing
// of how it was found.
//
// Cost: linear in the size of the problem where the first candidates do, or
// where a single constraint refuses those that do not. Otherwise, in the
// independent piece of the problem concerned and on what the requirements reach
// only: unit propagation, and some runs of a SAT solver for each dead end of
// that. The worst case is exponential: bound it by ctx or opts. Solve returns
// within a few milliseconds of the end of ctx.
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
	x := newIndex(ctx, p)
	w := newWalk(p, x)
	w.begin()
	dead := w.greedy(ctx)
	if ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	if len(dead) == 0 {
		return answer(ctx, p, w)
	}
	return newSearch(ctx, p, x, opts).solve(ctx, w, dead)
}

// newSearch prepares a search that nothing is kept of.
func newSearch(ctx context.Context, p *Problem, x *index, opts *Options) *search {
	all := parts(ctx, p, x)
	lits := make([]elit, len(p.names)+1)
	b := &budget{limit: opts.MaxConflicts}
	s := &search{p: p, index: x, parts: all, guess: newPropagator(p)}
	s.number()
	s.open = func(ctx context.Context, i int) (*encoding, error) {
		return encode(ctx, p, &all[i], lits, b)
	}
	s.draw = func(i int) bool { return s.guess.add(ctx, p, all[i].cons) }
	return s
}

// answer makes the walk's picks the solution, once they are checked.
func answer(ctx context.Context, p *Problem, w *walk) (*Solution, error) {
	s := &Solution{problem: p, picked: w.picked, log: w.log}
	c, bad := violated(ctx, p, s.Has)
	if ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	if bad {
		return nil, fmt.Errorf("solver: internal error: the answer found breaks constraint %d (%s)", c.ID, c.Demand())
	}
	return s, nil
}

// A Solution is a selection that meets all constraints of its problem. It may
// be read by several goroutines at once.
type Solution struct {
	problem *Problem
	picked  []bool
	log     []decision
}

// Problem returns the problem that s solves: with the change made, where a
// [Session] found it. It is not to be added to.
func (s *Solution) Problem() *Problem { return s.problem }

// Has reports whether v is selected.
func (s *Solution) Has(v Var) bool { return v > 0 && int(v) < len(s.picked) && s.picked[v] }

// Selected iterates over the selected variables, ascending.
func (s *Solution) Selected() iter.Seq[Var] {
	return func(yield func(Var) bool) {
		for v, picked := range s.picked {
			if picked && !yield(Var(v)) {
				return
			}
		}
	}
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
