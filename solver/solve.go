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
	// MaxConflicts bounds the conflicts of the search, over all parts of the
	// problem together. It is checked after each conflict. 0 means no bound.
	MaxConflicts int64
	// Timeout bounds the time, like a deadline of the context. 0 means no
	// bound.
	Timeout time.Duration
	// Budget, if not nil, bounds the conflicts of all calls that are given it.
	Budget *Budget
}

// Solve returns the best selection that meets all constraints of p.
//
// The best one is determined by this rule:
//
//  1. The demands that nothing triggers come first, in the order of addition:
//     what is required, and clauses that deny nothing.
//  2. A demand that a pick already meets is skipped. Otherwise the first
//     candidate is picked with which, together with all earlier picks, the
//     constraints can still be met.
//  3. A pick appends the demands that it completes to the queue, in the order
//     of addition: its dependencies, and clauses whose last denied variable it
//     is.
//
// So an earlier choice is never made worse for the sake of a later one, and
// nothing is selected that no demand calls for. The answer depends on the
// problem alone: not on how the search proceeds, and not on the order in which
// independent parts of the problem were added.
//
// The error is
//   - [*ProblemError] if p is malformed
//   - [*UnsatError] if no selection meets all constraints
//   - [*IncompleteError] if ctx ended or a bound of opts was reached first
//
// Every answer is checked against every constraint that it could break, by code
// that is independent of how it was found.
//
// Cost: linear in the size of the problem if the first candidates work, or if a
// single constraint rules out those that do not. Otherwise a search by
// conflict-driven clause learning, limited to the independent piece of the
// problem concerned and to what the requirements reach. The worst case is
// exponential: bound it by ctx or opts. Solve returns within a few milliseconds
// of processor time after the end of ctx, as everything here does that is given one.
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
	budget, done := opts.budget()
	defer done()
	search := newSearch(ctx, index, greedy.dead, budget)
	if search == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	if search.isApart() {
		sol, err = search.apart(ctx, greedy)
	} else {
		sol, err = search.whole(ctx, greedy)
	}
	if err == errUnsat {
		return nil, newUnsatError(p, nil, search.isUnsettled)
	}
	return sol, err
}

// errUnsat says that there is no answer.
var errUnsat = errors.New("no selection meets all constraints")

// straight solves what takes no search. If there is a dead end, it returns the
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

// newSearch prepares a search of which nothing is kept, in the parts that contain
// the dead ends. It returns nil if ctx ended.
func newSearch(ctx context.Context, x *index, dead []int32, b *budget) *search {
	s := &search{x: x, parts: partsOf(ctx, x, dead), given: func(int32) []Lit { return nil }, budget: b}
	s.of = numbered(ctx, x, s.parts)
	if ctx.Err() != nil { // the parts may be incomplete
		return nil
	}
	s.find(dead)
	return s
}

// whole solves the unsettled parts with the index of the problem. The error is that
// of solve.
func (s *search) whole(ctx context.Context, greedy *partial) (*Solution, error) {
	var cons []int32
	for _, q := range s.unsettled {
		cons = append(cons, s.parts[q].cons...)
	}
	s.cdcl = newCDCL(ctx, s.x, cons, 0, nil)
	if s.cdcl.poll.ended {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	return s.solve(ctx, greedy)
}

// newSolution checks the choices, and returns them as the solution of the
// changed problem.
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
	given  *Problem // if base has more, from Minimize: the problem without that
	before extent   // what given had

	sortOnce sync.Once
	sorted   []Var

	making sync.Mutex
	made   *Problem // with the change
}

// An extent is how much a problem had at some time.
type extent struct{ vars, cons int }

// Problem returns the problem that s solves. If a [Session] found s, that is
// the problem with the change made. Do not add to it.
//
// Cost: with a change, a copy of the problem the first time.
func (s *Solution) Problem() *Problem {
	if s.given != nil {
		return s.given
	}
	return s.whole()
}

// whole returns the problem with the change made, and with what Minimize adds.
func (s *Solution) whole() *Problem { return s.problem(&poll{ctx: context.Background()}) }

// own reports whether v is a variable of the problem, not one that Minimize adds.
func (s *Solution) own(v Var) bool { return s.given == nil || int(v) <= s.before.vars }

// problem is like Problem, with what Minimize adds. It returns nil if the poll
// is over.
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
func (s *Solution) Len() int { return len(s.vars()) }

// Selected iterates over the selected variables, ascending.
func (s *Solution) Selected() iter.Seq[Var] { return slices.Values(s.vars()) }

// vars returns the selected variables, ascending.
func (s *Solution) vars() []Var {
	s.sortOnce.Do(func() {
		s.sorted = make([]Var, 0, len(s.log))
		for _, d := range s.log {
			if s.own(d.pick) {
				s.sorted = append(s.sorted, d.pick)
			}
		}
		slices.Sort(s.sorted)
	})
	return s.sorted
}

// An IncompleteError reports that a call ended before it was done: the search
// for the best selection, or the work on reasons or a proof.
type IncompleteError struct {
	// Best is a selection that meets all constraints, or nil if none was found
	// yet, or if the problem is so large that there was no time to check it.
	Best *Solution
	// Choices is how many choices Best makes; Proven is how many of them,
	// counted from the first, are known to be those of the best selection.
	Choices, Proven int
	// Known is what is certain nevertheless, if the call was about its reasons:
	// that no selection meets all constraints, or that one was found.
	Known string
	// Err is the error of the context, or nil if a bound of the options was
	// reached.
	Err error
}

// What is known when reasons were being worked out.
const (
	knownRefuted  = "no selection meets all constraints"
	knownSelected = "a selection was found"
)

// stopped is the error of a call about reasons that the context ended.
func stopped(ctx context.Context, known string) error {
	return &IncompleteError{Known: known, Err: ctx.Err()}
}

// Error reports how far the search got, and what ended it.
func (e *IncompleteError) Error() string {
	why := "the bound on conflicts was met"
	if e.Err != nil {
		why = e.Err.Error()
	}
	if e.Known != "" {
		return "solver: " + e.Known + "; the reasons were not worked out to the end: " + why
	}
	if e.Best == nil {
		return "solver: ended before any selection was found: " + why + "; allow more time or conflicts"
	}
	return fmt.Sprintf("solver: ended with %d of %d choices proven best: %s; allow more time or conflicts, or take the selection found",
		e.Proven, e.Choices, why)
}

// Unwrap returns Err.
func (e *IncompleteError) Unwrap() error { return e.Err }
