package rule

import (
	"context"
	"fmt"
)

// Rule is a compiled rule. It is immutable.
type Rule struct {
	source    string
	costLimit uint64
	code
}

// Result says whether a rule or constraint holds, and what went wrong during
// the evaluation: each failed evaluation counted as false where it occurred.
type Result struct {
	Match       bool         // whether it holds
	Diagnostics []*EvalError // in the order of evaluation
}

// EvalError reports that a rule could not be evaluated on some properties, and
// so does not hold for them.
type EvalError struct {
	Source       string // the rule
	Line, Column int    // where in it, both from 1; 0 if unknown
	Message      string // what went wrong
}

// Error returns the message on one line.
func (e *EvalError) Error() string {
	if e.Line == 0 {
		return "rule: " + e.Message
	}
	return fmt.Sprintf("rule at %d:%d: %s", e.Line, e.Column, e.Message)
}

// String returns the source of the rule.
func (r *Rule) String() string { return r.source }

// Match reports whether the rule holds. Use [Rule.Eval] to learn why a rule
// could not be evaluated. The error is that of the context.
func (r *Rule) Match(ctx context.Context, props *Properties) (bool, error) {
	result, err := r.Eval(ctx, props)
	return result.Match, err
}

// Eval evaluates the rule. The error is that of the context, which is checked
// during the evaluation; everything else is in the result. A rule that looks at
// ten properties takes some microseconds. See [WithBudget] for a bound on many
// evaluations.
func (r *Rule) Eval(ctx context.Context, props *Properties) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	if props == nil {
		props = Prepare(nil)
	}
	return r.eval(ctx, props)
}
