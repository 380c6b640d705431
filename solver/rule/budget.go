package rule

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/fairlead/fairlead/internal/words"
)

// freeCost is what an evaluation may cost without being charged to a budget: what
// honest rules stay below by far.
const freeCost = 1_000

// BudgetError says that the rules of a question have cost too much together.
type BudgetError struct {
	Budget uint64 // what they might cost, in CEL's units, beyond 1,000 for each evaluation
	Source string // the rule that was evaluated last
	Of     string // what has that rule, such as "a.v1 of package a"; empty where that is not known
}

// Error names the rule, the budget and the way out.
func (e *BudgetError) Error() string {
	of := ""
	if e.Of != "" {
		of = " that of " + e.Of + ","
	}
	return fmt.Sprintf("rules cost more than the budget of %d steps for one question, the last of them%s %s; leave out the bundles that have it, or raise the budget", e.Budget, of, strconv.Quote(words.Clip(e.Source, 120)))
}

type budgetKey struct{}

type budget struct {
	total  uint64
	spent  atomic.Uint64
	cancel context.CancelCauseFunc
}

// WithBudget returns a context in which the evaluations of rules may cost so much
// together: that of each beyond 1,000 units counts. When it is spent the context
// ends, and its cause is a [*BudgetError]. Cancel ends it, as that of
// [context.WithCancel] does. A context within one with a budget keeps that.
func WithBudget(ctx context.Context, total uint64) (within context.Context, cancel func()) {
	if ctx.Value(budgetKey{}) != nil {
		return ctx, func() {}
	}
	b := &budget{total: total}
	within, b.cancel = context.WithCancelCause(ctx)
	return context.WithValue(within, budgetKey{}, b), func() { b.cancel(nil) }
}

// charge counts what an evaluation has cost.
func charge(ctx context.Context, cost uint64, source string) {
	b, _ := ctx.Value(budgetKey{}).(*budget)
	if b == nil || cost <= freeCost {
		return
	}
	if b.spent.Add(cost-freeCost) > b.total {
		b.cancel(&BudgetError{Budget: b.total, Source: source})
	}
}
