package solver

import (
	"context"
	"slices"
)

// ExplainOptions configure an explanation. The zero value, like nil, suits
// human readers.
type ExplainOptions struct {
	// Name returns the name by which the reader knows a variable. Variables with
	// the same name are treated as one. Nil means [Problem.Name].
	Name func(Var) string
	// MaxConflicts is how many independent conflicts are looked for. 0 means
	// 10; less than 0 means no bound.
	MaxConflicts int
	// MaxFixes is how many fixes are looked for. 0 means 3; less than 0 means
	// none.
	MaxFixes int
	// MaxLines is the maximum number of lines of the text. Trees that do not
	// fit are cut short, wide ones before deep ones, so that what is left leads
	// to a cause. Each conflict that is shown gets at least five lines, however
	// many there are. 0 means 25.
	MaxLines int
	// Budget bounds the work: half of it is for the conflicts, what is left for
	// the fixes. Nil stands for one of 24,000 conflicts, see [UnsatError.Core].
	Budget *Budget
}

func (o *ExplainOptions) withDefaults() ExplainOptions {
	var opts ExplainOptions
	if o != nil {
		opts = *o
	}
	if opts.MaxConflicts == 0 {
		opts.MaxConflicts = 10
	}
	if opts.MaxFixes == 0 {
		opts.MaxFixes = 3
	}
	if opts.MaxLines <= 0 {
		opts.MaxLines = 25
	}
	return opts
}

// An Explanation says why a problem has no answer, for a reader who knows the
// variables but nothing about solvers. It depends only on the problem and the
// options, unless the context ended first.
type Explanation struct {
	// Conflicts are the conflicts that must be resolved, in the order of their
	// first constraint. No two share a constraint.
	Conflicts []Conflict
	// Fixes are the changes that would help, the one with the least effort
	// first: each was tried. If the budget was used up, there may be better
	// ones.
	Fixes []Fix

	problem  *Problem
	linesMax int
}

// A Conflict is a set of constraints that cannot be met together.
type Conflict struct {
	// Core are the constraints, in the order of addition, see
	// [UnsatError.Core].
	Core []Constraint
	// Minimal reports that none of them can be left out. If it is false, the
	// budget or the context ended before that was achieved.
	Minimal bool
	// Tree tells the same as a story: from what is required, through what that
	// needs, to the facts that clash. It states every constraint of the core
	// once.
	Tree []*Statement
}

// A Statement is one line of an explanation.
type Statement struct {
	// Text is the line.
	Text string
	// Constraints are the constraints that it states: several if it says the
	// same about several subjects.
	Constraints []Constraint
	// Subjects are the variables that it is about: none for a Limitation.
	Subjects []Var
	// Children say what follows for the candidates that the statement calls
	// for.
	Children []*Statement

	say     phrase
	objects []Var // of an Exclusion
}

// Explain works out why the problem has no answer, and what would help.
//
// The conflicts are the core (see [UnsatError.Core]), then the core of what
// remains without the constraints of the first, and so on, so that all
// conflicts that have nothing in common are reported.
//
// Reasons can help: if several subjects have the same reason except for the
// name at its beginning ("kafka.v2 requires API Etcd"), it is written once for
// all of them, and an [Adviser] says what to do.
//
// Cost: about one run of the SAT engine for every constraint of a core, within
// the budget. If ctx ended first, the error is [*IncompleteError], and the
// explanation is what was found until then.
func (e *UnsatError) Explain(ctx context.Context, options *ExplainOptions) (*Explanation, error) {
	opts := options.withDefaults()
	b := opts.Budget.or(explainConflicts)
	share := b.Left() - b.Left()/2
	half := NewBudget(share)
	x := &Explanation{linesMax: opts.MaxLines}
	cores, err := e.cores(ctx, half, opts.MaxConflicts)
	b.take(share - half.Left())
	if len(cores) > 0 {
		x.problem = e.Problem()
		x.tell(ctx, cores, opts.Name)
	}
	if err != nil || opts.MaxFixes < 0 {
		return x, err
	}
	x.Fixes, err = e.fixes(ctx, namer{x.problem, opts.Name}, opts.MaxFixes, b)
	return x, err
}

// toldMax is the number of literals up to which a core is told as a tree, and
// is returned after the end of the context: that takes a millisecond or two.
const toldMax = 10_000

// size returns how many literals the constraints have, or more than toldMax.
func (p *Problem) size(ids []int32) int {
	n := 0
	for _, id := range ids[:min(len(ids), toldMax+1)] {
		n += 1 + int(p.cons[id].end-p.cons[id].start)
	}
	return n
}

// tell adds the conflicts.
func (x *Explanation) tell(ctx context.Context, cores []core, name func(Var) string) {
	slices.SortFunc(cores, func(a, b core) int { return slices.Compare(a.ids, b.ids) })
	for _, found := range cores {
		c := Conflict{Minimal: found.minimal}
		small := x.problem.size(found.ids) <= toldMax
		if c.Core = x.problem.constraints(ctx, found.ids); c.Core == nil {
			break
		}
		if small {
			c.Tree = newGrower(x.problem, namer{x.problem, name}, c.Core).grow()
		}
		x.Conflicts = append(x.Conflicts, c)
	}
}
