//go:build !nocel

package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/fairlead/fairlead/internal/semverx"
)

// environment is the environment that rules are compiled in.
type environment = cel.Env

// newEnv returns the environment that rules are compiled in.
func newEnv(variables []string) (*environment, error) {
	opts := []cel.EnvOption{
		cel.Variable(propertiesVariable, cel.ListType(cel.MapType(cel.StringType, cel.AnyType))),
		cel.Function("semver_compare", cel.Overload("semver_compare",
			[]*cel.Type{cel.AnyType, cel.AnyType}, cel.IntType, cel.BinaryBinding(semverCompare))),
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals()),
	}
	for _, name := range variables {
		opts = append(opts, cel.Variable(name, cel.DynType))
	}
	env, err := cel.NewEnv(opts...)
	if err != nil {
		return nil, fmt.Errorf("rule: the environment cannot be made: %w", err)
	}
	return env, nil
}

// interruptEvery is the number of steps of a comprehension between two checks
// of the context.
const interruptEvery = 1

func compile(env *environment, src string, costLimit uint64) (*Rule, error) {
	if strings.TrimSpace(src) == "" {
		return nil, &SyntaxError{Source: src, Line: 1, Column: 1, Message: "the rule is empty", Hint: `write "true" for a rule that always holds`}
	}
	checked, issues := env.Compile(src)
	if issues.Err() != nil {
		return nil, syntaxError(src, issues)
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) {
		return nil, &SyntaxError{Source: src, Line: 1, Column: 1, Message: "a rule must yield bool, this one yields " + typeName(t), Hint: typeHint(t)}
	}
	if err := checkPatterns(src, checked); err != nil {
		return nil, err
	}
	program, err := env.Program(checked,
		cel.CustomDecoratorV2(guard),
		cel.CostLimit(costLimit),
		cel.InterruptCheckFrequency(interruptEvery),
	)
	if err != nil {
		return nil, &SyntaxError{Source: src, Line: 1, Column: 1, Message: err.Error()}
	}
	return &Rule{source: src, costLimit: costLimit, code: code{program, checked}}, nil
}

// checkPatterns compiles the constant regular expressions of a rule.
func checkPatterns(src string, rule *cel.Ast) error {
	var mistake error
	native := rule.NativeRep()
	ast.PostOrderVisit(native.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if mistake != nil || e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Matches {
			return
		}
		args := e.AsCall().Args()
		pattern := args[len(args)-1]
		if pattern.Kind() != ast.LiteralKind {
			return
		}
		if s, ok := pattern.AsLiteral().(types.String); ok {
			if _, err := compileExpression(string(s)); err != nil {
				at := native.SourceInfo().GetStartLocation(pattern.ID())
				mistake = &SyntaxError{Source: src, Line: at.Line(), Column: at.Column() + 1, Message: err.Error()}
			}
		}
	}))
	return mistake
}

func typeName(t *cel.Type) string {
	return strings.ReplaceAll(t.String(), "google.protobuf.Any", "any")
}

func typeHint(t *cel.Type) string {
	switch t.Kind() {
	case types.DynKind, types.AnyKind:
		return "its type is known only when evaluated; compare it, as in x == true"
	case types.ListKind, types.MapKind:
		return "ask for its size or for an element, as in size(x) > 0"
	}
	return ""
}

// syntaxError returns an error for the first mistake in the text. A mistake
// without a position (a limit of the parser) comes before all others.
func syntaxError(src string, issues *cel.Issues) *SyntaxError {
	errs := slices.Clone(issues.Errors())
	slices.SortStableFunc(errs, func(a, b *cel.Error) int {
		return cmp.Or(
			cmp.Compare(a.Location.Line(), b.Location.Line()),
			cmp.Compare(a.Location.Column(), b.Location.Column()))
	})
	e := &SyntaxError{Source: src, Line: 1, Column: 1, Message: "does not compile"}
	if len(errs) == 0 {
		return e
	}
	first := errs[0]
	if line := first.Location.Line(); line > 0 {
		e.Line, e.Column = line, first.Location.Column()+1
	}
	e.Message = strings.ReplaceAll(first.Message, " (in container '')", "")
	e.Message = strings.TrimPrefix(e.Message, "Syntax error: ")
	e.More = len(errs) - 1
	return e
}

// semverCompare compares two values as versions. They are converted to strings
// first, so that numbers are also accepted.
func semverCompare(a, b ref.Val) ref.Val {
	va, err := version(a)
	if err != nil {
		return types.WrapErr(err)
	}
	vb, err := version(b)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Int(va.Compare(vb))
}

func version(v ref.Val) (semverx.Version, error) {
	s, ok := v.ConvertToType(types.StringType).(types.String)
	if !ok {
		return semverx.Version{}, fmt.Errorf("semver_compare: a %s is not a version", v.Type().TypeName())
	}
	parsed, err := semverx.ParseTolerant(string(s))
	if err != nil {
		return semverx.Version{}, fmt.Errorf("semver_compare: %w", err)
	}
	return parsed, nil
}
