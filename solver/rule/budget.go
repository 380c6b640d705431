package rule

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/fairlead/fairlead/internal/words"
)

// freeCost is the cost that an evaluation may have without being charged to a
// budget. Honest rules stay far below it.
const freeCost = 1_000

// BudgetError reports that the rules of a question have cost too much in total.
type BudgetError struct {
	Budget uint64 // what they may cost, in CEL's units, beyond 1,000 for each evaluation
	Source string // the rule that was evaluated last
	Of     string // what has that rule, such as "a.v1 of package a"; empty if unknown
}

// Error names the rule and the budget, and says what to do.
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

// WithBudget returns a context in which all evaluations of rules together may
// cost total; of each, only the cost beyond 1,000 units counts. When the budget
// is spent, the context ends with a [*BudgetError] as its cause. Cancel ends
// the context, like that of [context.WithCancel]. If ctx already has a budget,
// that one is kept.
func WithBudget(ctx context.Context, total uint64) (within context.Context, cancel func()) {
	if ctx.Value(budgetKey{}) != nil {
		return ctx, func() {}
	}
	b := &budget{total: total}
	within, b.cancel = context.WithCancelCause(ctx)
	return context.WithValue(within, budgetKey{}, b), func() { b.cancel(nil) }
}

// charge charges the cost of an evaluation to the budget of ctx, if any.
func charge(ctx context.Context, cost uint64, source string) {
	b, _ := ctx.Value(budgetKey{}).(*budget)
	if b == nil || cost <= freeCost {
		return
	}
	if b.spent.Add(cost-freeCost) > b.total {
		b.cancel(&BudgetError{Budget: b.total, Source: source})
	}
}
