package rule

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// Rule is a compiled rule. It is immutable.
type Rule struct {
	source    string
	program   cel.Program
	ast       *cel.Ast
	costLimit uint64
}

// Result says whether a rule or constraint holds, and what went wrong on the
// way: each failed evaluation counted as false where it occurred.
type Result struct {
	Match       bool         // whether it holds
	Diagnostics []*EvalError // in the order of evaluation
}

// EvalError tells that a rule could not be evaluated on some properties, and
// so does not hold for them.
type EvalError struct {
	Source       string // the rule
	Line, Column int    // where in it, both from 1; 0 where that is not known
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

// Match reports whether the rule holds. Use [Rule.Eval] to learn why it could
// not be evaluated where it could not. The error is that of the context.
func (r *Rule) Match(ctx context.Context, props *Properties) (bool, error) {
	result, err := r.Eval(ctx, props)
	return result.Match, err
}

// Eval evaluates the rule. The error is that of the context, whose end it
// observes while evaluating; everything else is in the result. It costs some
// microseconds for a rule that looks at ten properties. See [WithBudget] for a
// bound on many evaluations.
func (r *Rule) Eval(ctx context.Context, props *Properties) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	if props == nil {
		props = Prepare(nil)
	}
	value, details, err := r.program.ContextEval(ctx, newInput(ctx, props.vars, r.costLimit))
	charge(ctx, r.spent(details, err), r.source)
	if err == nil {
		return Result{Match: value == types.True}, nil
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	return Result{Diagnostics: []*EvalError{r.evalError(err)}}, nil
}

// spent is what an evaluation has cost: all that it might where it was broken off.
func (r *Rule) spent(details *cel.EvalDetails, err error) uint64 {
	if err != nil && strings.Contains(err.Error(), costLimitCause) {
		return r.costLimit
	}
	if details == nil || details.ActualCost() == nil {
		return 0
	}
	return *details.ActualCost()
}

func (r *Rule) evalError(err error) *EvalError {
	e := &EvalError{Source: r.source, Message: err.Error()}
	if strings.Contains(e.Message, costLimitCause) {
		e.Message = fmt.Sprintf("costs more than the limit of %d steps", r.costLimit)
	}
	var celErr *types.Err
	if errors.As(err, &celErr) {
		if at := r.ast.NativeRep().SourceInfo().GetStartLocation(celErr.NodeID()); at.Line() > 0 {
			e.Line, e.Column = at.Line(), at.Column()+1
		}
	}
	return e
}
