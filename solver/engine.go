package solver

import "context"

// An elit is a literal of the SAT engine: a variable from 1 up, or its negation.
type elit int32

// A verdict is the result of a run of the SAT engine, or of a search.
type verdict int8

const (
	unknown verdict = iota // stopped by the context or by the budget
	sat
	unsat
)

// An engine is an incremental SAT solver. It is not safe for concurrent use.
type engine interface {
	// fresh creates a variable.
	fresh() elit
	// add adds a clause: at least one of the literals is true.
	add(lits ...elit)
	// solve looks for a model in which the assumptions are true. After unknown,
	// the engine must not be used again.
	solve(ctx context.Context, assumptions ...elit) verdict
	// value returns the value of a literal in the model that the last solve
	// found. It is valid until the next add.
	value(l elit) bool
	// failed returns the assumptions of the last solve that it needed to find
	// unsat. None means that there is no model at all.
	failed() []elit
	// charge makes the engine spend from another budget.
	charge(b *budget)
}
