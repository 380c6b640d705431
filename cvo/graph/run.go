package graph

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// Evaluator tells whether a cluster is one of those that a rule describes, by
// asking the cluster's Prometheus, say. Of types that it does not know it
// returns an error. It is called by several goroutines.
type Evaluator interface {
	// Evaluate returns whether the rule matches. It must return soon after ctx
	// ends.
	Evaluate(ctx context.Context, rule Rule) (bool, error)
}

// Evaluate has the rules of updates evaluated that are due, all at once, and
// returns what is remembered then and when to come again. What an evaluator
// cannot tell is a result like others, not an error.
func (e Evaluations) Evaluate(ctx context.Context, by Evaluator, updates []Update, clock fairlead.Clock, policy *EvaluationPolicy) (next Evaluations, wake time.Time) {
	next, due, wake := e.Due(updates, clock.Now().UTC(), policy)
	type answer struct {
		match bool
		err   error
	}
	answers := make([]answer, len(due))
	var wait sync.WaitGroup
	for i, rule := range due {
		wait.Go(func() { answers[i].match, answers[i].err = by.Evaluate(ctx, rule) })
	}
	wait.Wait()
	if ctx.Err() != nil {
		return e, time.Time{} // cut short: nothing was learnt
	}
	now := clock.Now().UTC()
	for i, rule := range due {
		next = next.With(rule, answers[i].match, answers[i].err, now)
	}
	if len(due) == 0 {
		return next, wake
	}
	_, more, wake := next.Due(updates, now, policy) // what was evaluated is due again some day
	if len(more) > 0 {
		wake = now
	}
	return next, wake
}
