package graph

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// Evaluator decides whether a rule matches a cluster, for example by a query
// to the cluster's Prometheus. It returns an error for unknown types. It is
// called by several goroutines.
type Evaluator interface {
	// Evaluate returns whether the rule matches. It must return soon after ctx
	// ends.
	Evaluate(ctx context.Context, rule Rule) (bool, error)
}

// Evaluate evaluates the rules of updates that are due, in parallel, and
// returns the new results and when to call it again. A failure of an evaluator
// is a result like others, not an error.
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
		return e, time.Time{} // interrupted: no results
	}
	now := clock.Now().UTC()
	for i, rule := range due {
		next = next.With(rule, answers[i].match, answers[i].err, now)
	}
	if len(due) == 0 {
		return next, wake
	}
	_, more, wake := next.Due(updates, now, policy) // evaluated rules become due again later
	if len(more) > 0 {
		wake = now
	}
	return next, wake
}

// EvaluateAll evaluates all rules of updates that are due, as many at a time as the policy
// allows, without the pauses between: whoever counts or compares updates wants them all.
// It returns when none is due; what fails is Unknown, with its reason, and due again later.
// The error is that of the context, with the results so far.
func (e Evaluations) EvaluateAll(ctx context.Context, by Evaluator, updates []Update, clock fairlead.Clock, policy *EvaluationPolicy) (Evaluations, error) {
	for {
		e.Last = time.Time{} // no pause
		if _, due, _ := e.Due(updates, clock.Now().UTC(), policy); len(due) == 0 {
			return e, nil
		}
		e, _ = e.Evaluate(ctx, by, updates, clock, policy)
		if err := ctx.Err(); err != nil {
			return e, err
		}
	}
}
