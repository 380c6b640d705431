package solver

import "sync/atomic"

// A Budget is a number of conflicts for several calls together. A conflict is
// what a search meets when it has to take something back, so a budget lets the
// same work be done on every machine, which a limit on time does not.
//
// A Budget may be used by several goroutines at once. Then each call may spend
// what was left when it began, and who is first decides what is left for the others.
type Budget struct{ left atomic.Int64 }

// NewBudget returns a budget of that many conflicts.
func NewBudget(conflicts int64) *Budget {
	b := &Budget{}
	b.left.Store(max(0, conflicts))
	return b
}

// Left returns how many conflicts are left.
func (b *Budget) Left() int64 { return max(0, b.left.Load()) }

// The budgets where none is given.
const (
	coreConflicts    = 12_000
	explainConflicts = 24_000 // half of it for the cores
)

// or returns b or, if it is nil, a new budget.
func (b *Budget) or(conflicts int64) *Budget {
	if b == nil {
		return NewBudget(conflicts)
	}
	return b
}

// most returns a budget for one stage of a call: what is left of b, but no more
// than the given number. What the stage spends is to be settled with pay.
func (b *Budget) most(conflicts int64) *budget { return newBudget(min(conflicts, b.Left())) }

// pay takes what a stage spent out of b.
func (b *Budget) pay(stage *budget) { b.take(stage.spent) }

// take takes conflicts out of b: more than are left if the last one of a stage was
// not the last of a call, or if others took some at the same time.
func (b *Budget) take(conflicts int64) { b.left.Add(-conflicts) }

// A budget bounds the total work of all engines of one stage.
type budget struct {
	limit int64 // conflicts; 0 means no bound, less that there are none
	spent int64
}

// newBudget returns a budget of that many conflicts, which may be 0.
func newBudget(conflicts int64) *budget {
	if conflicts == 0 {
		conflicts = -1
	}
	return &budget{limit: conflicts}
}

func (b *budget) over() bool { return b.limit != 0 && b.spent >= b.limit }

// budget returns the budget of a call with the options, and a function that
// takes what was spent out of Options.Budget.
func (o *Options) budget() (b *budget, done func()) {
	if o.Budget == nil {
		return &budget{limit: o.MaxConflicts}, func() {}
	}
	most := o.Budget.Left()
	if o.MaxConflicts > 0 {
		most = min(most, o.MaxConflicts)
	}
	b = newBudget(most)
	return b, func() { o.Budget.pay(b) }
}
