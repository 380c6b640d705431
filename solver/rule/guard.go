//go:build !nocel

package rule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// The language's own cost limit is checked when a step is done, and counts the
// comparison of two lists as one step per element, however deep these are.
// [[1]].map(a, [a, a]).map(a, [a, a])... makes a value of 2^n leaves in n
// steps, and comparing it once takes hours. So everything that could take long
// in a single step is bounded here before it is done, by the work that one
// evaluation may do, and the context is checked on the way.
const (
	maxList        = 1 << 18 // elements of a list that + makes
	maxText        = 1 << 22 // bytes of a text that + makes
	longText       = 1 << 12 // bytes of a text from which reading it counts as work
	bytesPerVisit  = 1 << 8  // bytes of a long text that weigh as much as a visit
	maxPattern     = 1 << 10 // bytes of a regular expression
	maxMatchSteps  = 1 << 21 // bytes times instructions of one match: 20 ms
	lookEvery      = 1 << 12 // element visits between two checks of the context
	workVariable   = "@work" // not an identifier of the language
	stepsPerVisit  = 4       // instructions of a match that weigh as much as a visit
	costLimitCause = "actual cost limit exceeded"
)

var errWork = errors.New(costLimitCause)

// input is what a rule is evaluated on: its variables, and the remaining work.
// It belongs to one evaluation.
type input struct {
	vars map[string]any
	ctx  context.Context
	left int // element visits
	look int // element visits until the next check of the context
}

func newInput(ctx context.Context, vars map[string]any, costLimit uint64) *input {
	return &input{vars: vars, ctx: ctx, left: int(min(costLimit, math.MaxInt))}
}

// ResolveName implements interpreter.Activation.
func (in *input) ResolveName(name string) (any, bool) {
	if name == workVariable {
		return in, true
	}
	v, ok := in.vars[name]
	return v, ok
}

// Parent implements interpreter.Activation.
func (in *input) Parent() interpreter.Activation { return nil }

// spend takes n visits from what is left. Once it has failed, it always fails.
func (in *input) spend(n int) error {
	if in.left < n {
		in.left = -1
		return errWork
	}
	in.left -= n
	if in.look -= n; in.look < 0 {
		in.look = lookEvery
		if in.ctx.Err() != nil {
			in.left = -1
			return context.Cause(in.ctx)
		}
	}
	return nil
}

// inputOf finds the input of the evaluation that frame belongs to.
func inputOf(frame *interpreter.ExecutionFrame) *input {
	v, _ := frame.ResolveName(workVariable)
	return v.(*input)
}

// guard replaces the nodes of a program that could take long in one step, and
// those that make maps, whose order must not be that of Go maps.
func guard(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch n := node.(type) {
	case interpreter.InterpretableAttribute:
		return &attributeNode{n}, nil
	case interpreter.InterpretableConstructor:
		if n.Type() == types.MapType {
			return &mapNode{n}, nil
		}
	case interpreter.InterpretableCall:
		args := n.Args()
		switch n.Function() {
		case operators.Equals:
			return &compareNode{n, args[0], args[1], equalTo}, nil
		case operators.NotEquals:
			return &compareNode{n, args[0], args[1], notEqualTo}, nil
		case operators.In, operators.OldIn:
			return &compareNode{n, args[0], args[1], memberOf}, nil
		case operators.Add:
			return &sumNode{n}, nil
		case overloads.Matches:
			return newMatchNode(n, args[0], args[1])
		}
	}
	return node, nil
}

// attributeNode reads a variable or something in it. Most functions on texts
// count as one step but take time proportional to the length of the text.
type attributeNode struct {
	interpreter.InterpretableAttribute
}

// Exec implements interpreter.InterpretableV2.
func (n *attributeNode) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	v := n.InterpretableAttribute.Exec(frame)
	if s, ok := v.(types.String); ok && len(s) > longText {
		if err := inputOf(frame).spend(len(s) / bytesPerVisit); err != nil {
			return types.LabelErrNode(n.ID(), types.WrapErr(err))
		}
	}
	return v
}

// Eval implements interpreter.Interpretable.
func (n *attributeNode) Eval(a interpreter.Activation) ref.Val {
	return n.Exec(interpreter.AsFrame(a))
}

// mapNode makes a map that is iterated over in the order of its keys.
type mapNode struct {
	interpreter.InterpretableConstructor
}

// Exec implements interpreter.InterpretableV2.
func (n *mapNode) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	v := n.InterpretableConstructor.Exec(frame)
	if m, ok := v.(traits.Mapper); ok {
		return orderedMap{m}
	}
	return v
}

// Eval implements interpreter.Interpretable.
func (n *mapNode) Eval(a interpreter.Activation) ref.Val { return n.Exec(interpreter.AsFrame(a)) }

// sumNode is a + b, where the sum of two lists or texts must not be too long:
// it is made in one step, but iterated over in many.
type sumNode struct {
	interpreter.InterpretableCall
}

// Exec implements interpreter.InterpretableV2.
func (n *sumNode) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	v := n.InterpretableCall.Exec(frame)
	switch sum := v.(type) {
	case traits.Lister:
		if size, ok := sum.Size().(types.Int); !ok || size > maxList || size < 0 {
			return types.NewErrWithNodeID(n.ID(), "a list of more than %d elements", maxList)
		}
	case types.String:
		return boundText(v, len(sum), n.ID())
	case types.Bytes:
		return boundText(v, len(sum), n.ID())
	}
	return v
}

// Eval implements interpreter.Interpretable.
func (n *sumNode) Eval(a interpreter.Activation) ref.Val { return n.Exec(interpreter.AsFrame(a)) }

func boundText(sum ref.Val, size int, node int64) ref.Val {
	if size > maxText {
		return types.NewErrWithNodeID(node, "a text of more than %d bytes", maxText)
	}
	return sum
}

// compareNode is ==, != or in.
type compareNode struct {
	interpreter.InterpretableCall
	left, right interpreter.InterpretableV2
	compare     func(in *input, left, right ref.Val) (bool, error)
}

// Exec implements interpreter.InterpretableV2.
func (n *compareNode) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	left := n.left.Exec(frame)
	if types.IsUnknownOrError(left) {
		return left
	}
	right := n.right.Exec(frame)
	if types.IsUnknownOrError(right) {
		return right
	}
	holds, err := n.compare(inputOf(frame), left, right)
	if err != nil {
		return types.LabelErrNode(n.ID(), types.WrapErr(err))
	}
	return types.Bool(holds)
}

// Eval implements interpreter.Interpretable.
func (n *compareNode) Eval(a interpreter.Activation) ref.Val { return n.Exec(interpreter.AsFrame(a)) }

func notEqualTo(in *input, left, right ref.Val) (bool, error) {
	equal, err := equalTo(in, left, right)
	return !equal, err
}

// equalTo compares as the language does: numbers across types, lists element
// by element, maps key by key. Each element costs a visit.
func equalTo(in *input, left, right ref.Val) (bool, error) {
	if err := in.spend(1); err != nil {
		return false, err
	}
	switch l := left.(type) {
	case traits.Lister:
		r, ok := right.(traits.Lister)
		if !ok || l.Size() != r.Size() {
			return false, nil
		}
		for i := range l.Size().(types.Int) {
			if equal, err := equalTo(in, l.Get(i), r.Get(i)); !equal {
				return false, err
			}
		}
		return true, nil
	case traits.Mapper:
		r, ok := right.(traits.Mapper)
		if !ok || l.Size() != r.Size() {
			return false, nil
		}
		for it := l.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			there, found := r.Find(key)
			if !found {
				return false, nil
			}
			here, _ := l.Find(key)
			if equal, err := equalTo(in, here, there); !equal {
				return false, err
			}
		}
		return true, nil
	}
	return types.Equal(left, right) == types.True, nil
}

// memberOf reports whether left is an element of a list or a key of a map.
func memberOf(in *input, left, right ref.Val) (bool, error) {
	switch r := right.(type) {
	case traits.Lister:
		for i := range r.Size().(types.Int) {
			if equal, err := equalTo(in, left, r.Get(i)); equal || err != nil {
				return equal, err
			}
		}
		return false, nil
	case traits.Mapper:
		_, found := r.Find(left)
		return found, nil
	}
	return false, errors.New("no such overload: in")
}

// matchNode is matches: its time is the length of the string times the size of
// the compiled expression.
type matchNode struct {
	interpreter.InterpretableCall
	text, pattern interpreter.InterpretableV2
	fixed         *expression // for a constant pattern, otherwise nil
}

type expression struct {
	regexp *regexp.Regexp
	size   int // instructions
}

func newMatchNode(call interpreter.InterpretableCall, text, pattern interpreter.InterpretableV2) (*matchNode, error) {
	n := &matchNode{InterpretableCall: call, text: text, pattern: pattern}
	if constant, ok := pattern.(interpreter.InterpretableConst); ok {
		if s, ok := constant.Value().(types.String); ok {
			var err error
			n.fixed, err = compileExpression(string(s))
			return n, err
		}
	}
	return n, nil
}

func compileExpression(pattern string) (*expression, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("a regular expression of %d bytes exceeds the limit of %d", len(pattern), maxPattern)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(pattern)
	return &expression{re, len(program.Inst)}, err
}

// Exec implements interpreter.InterpretableV2.
func (n *matchNode) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	text := n.text.Exec(frame)
	if types.IsUnknownOrError(text) {
		return text
	}
	pattern := n.pattern.Exec(frame)
	if types.IsUnknownOrError(pattern) {
		return pattern
	}
	matched, err := n.match(inputOf(frame), text, pattern)
	if err != nil {
		return types.LabelErrNode(n.ID(), types.WrapErr(err))
	}
	return types.Bool(matched)
}

// Eval implements interpreter.Interpretable.
func (n *matchNode) Eval(a interpreter.Activation) ref.Val { return n.Exec(interpreter.AsFrame(a)) }

func (n *matchNode) match(in *input, text, pattern ref.Val) (bool, error) {
	s, ok1 := text.(types.String)
	p, ok2 := pattern.(types.String)
	if !ok1 || !ok2 {
		return false, errors.New("no such overload: matches")
	}
	e := n.fixed
	if e == nil {
		var err error
		if e, err = compileExpression(string(p)); err != nil {
			return false, err
		}
		if err := in.spend(e.size); err != nil {
			return false, err
		}
	}
	if len(s) > maxMatchSteps/e.size {
		return false, fmt.Errorf("a text of %d bytes is too long for this regular expression", len(s))
	}
	if err := in.spend(len(s) * e.size / stepsPerVisit); err != nil {
		return false, err
	}
	return e.regexp.MatchString(string(s)), nil
}
