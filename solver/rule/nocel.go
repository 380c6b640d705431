//go:build nocel

package rule

import "context"

// A program that is built with the tag nocel has no CEL, which is most of what such a program
// would consist of. It refuses every rule, so that nothing passes for holding that was not
// evaluated.
type environment struct{}

func newEnv([]string) (*environment, error) { return &environment{}, nil }

type code struct{}

func compile(_ *environment, src string, _ uint64) (*Rule, error) {
	return nil, &SyntaxError{Source: src, Line: 1, Column: 1, Message: "this program was built without CEL and evaluates no rules", Hint: "build it without the tag nocel"}
}

func (r *Rule) eval(context.Context, *Properties) (Result, error) { return Result{}, nil }

func toValue(decoded any) any { return decoded }
