//go:build !nocel

package rule

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// code is a rule in the form that CEL runs.
type code struct {
	program cel.Program
	ast     *cel.Ast
}

func (r *Rule) eval(ctx context.Context, props *Properties) (Result, error) {
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

// spent returns the cost of an evaluation: the whole limit if the evaluation
// was cut off there.
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
