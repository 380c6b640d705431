// Whatif picks versions of packages that go together, and says what would
// change under suppositions:
//
//	whatif FILE [-with NAME ...] [-without NAME ...]
//
// Each supposition is made by itself. Where none is named, each picked version
// is done without in turn, which shows what everything hangs on. One session of
// the solver answers them all, and so learns but once. Flags may stand before
// or after the file; its lines are described at the function read.
//
// The exit status is 0 if there is an answer without suppositions, 1 if there
// is none, and 2 if the input is bad.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/solver"
)

func main() { args.Main(run) }

// supposition is that something is picked, or is not.
type supposition struct {
	name    string
	without bool
}

// run is the program but for the process around it.
func run(ctx context.Context, arguments []string, _ io.Reader, stdout, stderr io.Writer) int {
	var suppositions []supposition
	program := args.File[*set]{
		Name:  "whatif",
		Usage: "usage: whatif FILE [-with NAME ...] [-without NAME ...]",
		Flags: func(flags *flag.FlagSet) {
			for name, isWithout := range map[string]bool{"with": false, "without": true} {
				flags.Func(name, "", func(what string) error {
					suppositions = append(suppositions, supposition{what, isWithout})
					return nil
				})
			}
		},
		Read: read,
		Do: func(ctx context.Context, w io.Writer, s *set) (int, error) {
			return answer(ctx, w, s, suppositions)
		},
	}
	return program.Run(ctx, arguments, stdout, stderr)
}

// answer prints what is picked, and what would be under each supposition. If
// nothing can be picked it prints why.
func answer(ctx context.Context, w io.Writer, s *set, suppositions []supposition) (int, error) {
	session, err := solver.NewSession(&s.Problem, nil)
	if err != nil {
		return 0, err
	}
	solution, err := session.Solve(ctx, nil)
	var unsat *solver.UnsatError
	if errors.As(err, &unsat) {
		text, err := s.because(ctx, unsat)
		if err == nil {
			_, err = fmt.Fprintln(w, text)
		}
		return args.StatusFindings, err
	}
	if err != nil {
		return 0, err
	}
	picked := s.names(solution)
	if _, err := fmt.Fprintln(w, "picked:", strings.Join(picked, ", ")); err != nil {
		return 0, err
	}
	if len(suppositions) == 0 {
		for _, name := range picked {
			suppositions = append(suppositions, supposition{name, true})
		}
	}
	for _, sup := range suppositions {
		if err := s.suppose(ctx, w, session, picked, sup); err != nil {
			return 0, err
		}
	}
	return args.StatusFine, nil
}

// suppose prints what one supposition changes.
func (s *set) suppose(ctx context.Context, w io.Writer, session *solver.Session, picked []string, sup supposition) error {
	v, known := s.Lookup(sup.name)
	if !known {
		return fmt.Errorf("there is no %s to suppose anything of", sup.name)
	}
	word, supposed := "with", &solver.WhatIf{Require: []solver.Var{v}}
	if sup.without {
		word, supposed = "without", &solver.WhatIf{Forbid: []solver.Var{v}}
	}
	solution, err := session.Solve(ctx, supposed)
	var unsat *solver.UnsatError
	text := ""
	switch {
	case errors.As(err, &unsat):
		text, err = s.because(ctx, unsat)
	case err == nil:
		text = change(picked, s.names(solution))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s %s: %s\n", word, sup.name, text)
	return err
}

// because says in one line which of the facts in the file rule an answer out.
func (s *set) because(ctx context.Context, unsat *solver.UnsatError) (string, error) {
	core, err := unsat.Core(ctx)
	if err != nil {
		return "", err
	}
	var reasons []string
	for _, c := range core {
		if c.ID < s.NumConstraints() { // and not the supposition, which comes after them
			reasons = append(reasons, c.String())
		}
	}
	return "nothing will do, as " + strings.Join(reasons, ", and "), nil
}
