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
// options.
type Explanation struct {
	// Conflicts are the conflicts that must be resolved, in the order of their
	// first constraint. No two share a constraint.
	Conflicts []Conflict
	// Fixes are the changes that would help, the one with the least effort
	// first.
	Fixes []Fix

	problem  *Problem
	linesMax int
}

// A Conflict is a set of constraints that cannot be met together.
type Conflict struct {
	// Core is a minimal set, in the order of addition, see [UnsatError.Core].
	Core []Constraint
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
// Cost: about one run of the SAT engine for every constraint of a core. The
// error is [*IncompleteError] if ctx ended first.
func (e *UnsatError) Explain(ctx context.Context, options *ExplainOptions) (*Explanation, error) {
	opts := options.withDefaults()
	p, parts, err := e.pieces(ctx)
	if err != nil {
		return nil, err
	}
	x := &Explanation{problem: p, linesMax: opts.MaxLines}
	cores, err := coresOf(ctx, p, parts, opts.MaxConflicts)
	if err != nil {
		return nil, err
	}
	name := namer{p, opts.Name}
	for _, ids := range cores {
		core := p.constraints(ids)
		x.Conflicts = append(x.Conflicts, Conflict{Core: core, Tree: newGrower(p, name, core).grow()})
	}
	if opts.MaxFixes > 0 {
		x.Fixes, err = fixes(ctx, parts, name, opts.MaxFixes)
	}
	return x, err
}

// coresOf returns up to limit cores that share no constraint.
func coresOf(ctx context.Context, p *Problem, parts []part, limit int) ([][]int32, error) {
	var cores [][]int32
	lits := make([]elit, p.vars+1)
	for i := 0; i < len(parts) && (limit < 0 || len(cores) < limit); i++ {
		m, err := newMinimizer(ctx, p, &parts[i], lits, &budget{})
		if err != nil {
			return nil, err
		}
		on := m.all()
		for limit < 0 || len(cores) < limit {
			core, err := m.smaller(ctx, on)
			if err != nil {
				return nil, err
			}
			if core == nil {
				break
			}
			var ids []int32
			for _, at := range core {
				ids = append(ids, m.cons[at])
				on[at] = false
			}
			cores = append(cores, ids)
		}
	}
	slices.SortFunc(cores, slices.Compare)
	return cores, nil
}
