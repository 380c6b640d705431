package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

func TestMalformedProblem(t *testing.T) {
	p := &solver.Problem{}
	a := p.Var("a")
	p.Require(a, nil)
	p.Require(0, nil)
	p.Forbid(-3, nil)
	p.Depend(a, []solver.Var{a, 2}, nil)
	p.Exclude(math.MinInt32, math.MaxInt32, nil)
	p.Limit(-1, []solver.Var{a}, nil)
	p.Any([]solver.Lit{0, math.MinInt32}, nil)
	p.Limit(math.MaxInt, []solver.Var{a}, nil)
	for id := range p.NumConstraints() {
		if p.Constraint(id).Demand() == "" {
			t.Errorf("constraint %d says nothing", id)
		}
	}
	check := func(err error) {
		t.Helper()
		var malformed *solver.ProblemError
		if !errors.As(err, &malformed) {
			t.Fatalf("got %v", err)
		}
		var at []int
		for _, f := range malformed.Flaws {
			at = append(at, f.Constraint)
		}
		if want := []int{1, 2, 3, 4, 4, 5, 6, 6}; !slices.Equal(at, want) {
			t.Errorf("flaws of %v, want %v: %v", at, want, err)
		}
	}
	_, err := solver.Solve(context.Background(), p, nil)
	check(err)
	_, err = solver.NewSession(p, nil)
	check(err)
	check(solver.Check(context.Background(), p, &solver.Certificate{}))
	check(solver.CheckRefutation(context.Background(), p, nil))
	_, err = p.Refute(context.Background())
	check(err)
}

// TestVariables covers what the reference solvers call a duplicate identifier:
// here a name is always the same variable, however often it is named.
func TestVariables(t *testing.T) {
	p := &solver.Problem{}
	a := p.Var("a")
	b := p.Var("b")
	if a != 1 || b != 2 || p.Var("a") != a || p.NumVars() != 2 || p.Name(b) != "b" {
		t.Errorf("got %d, %d, %d of %d", a, b, p.Var("a"), p.NumVars())
	}
	if v, ok := p.Lookup("a"); v != a || !ok {
		t.Errorf("got %d, %t", v, ok)
	}
	if v, ok := p.Lookup("c"); v != 0 || ok || p.Name(3) != "" || p.Name(0) != "" || p.Name(-1) != "" {
		t.Errorf("got %d, %t", v, ok)
	}
	if l := b.No(); l.Var() != b || l.Selects() || !b.Yes().Selects() || b.Yes().Var() != b {
		t.Errorf("got %d of %d", l, b)
	}
}

// TestConstraints checks that constraints are returned as they were added, in
// order.
func TestConstraints(t *testing.T) {
	p := parse(t, `require a
forbid b
a needs c b a
exclude b c
limit 2 c a c b
any !a c !b: why`)
	var got []string
	for id := range p.NumConstraints() {
		c := p.Constraint(id)
		got = append(got, fmt.Sprintf("%d %s %d %v %d %s", c.ID, c.Kind, c.N, c.Lits, len(c.Demand()), c))
	}
	want := []string{
		"0 requirement 0 [1] 13 a is required",
		"1 prohibition 0 [-2] 16 b is not allowed",
		"2 dependency 0 [-1 3 2 1] 17 a needs c, b or a",
		"3 exclusion 0 [-2 -3] 12 b excludes c",
		"4 limitation 2 [3 1 2] 23 at most 2 of c, a and b",
		"5 clause 0 [-1 3 -2] 23 why",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if k := solver.Kind(99); k.String() != "Kind(99)" {
		t.Errorf("got %s", k)
	}
}

func TestNoProblem(t *testing.T) {
	_, solveErr := solver.Solve(context.Background(), nil, nil)
	_, sessionErr := solver.NewSession(nil, nil)
	p := parse(t, "require a")
	session, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Require(p.Var("b"), nil)
	_, addedErr := session.Solve(context.Background(), nil)
	for i, err := range []error{
		solveErr, sessionErr, addedErr,
		solver.Check(context.Background(), nil, nil), solver.CheckRefutation(context.Background(), nil, nil),
	} {
		var malformed *solver.ProblemError
		if !errors.As(err, &malformed) {
			t.Errorf("%d: got %v", i, err)
		}
	}
	var wrong *solver.CertificateError
	if err := solver.Check(context.Background(), p, nil); !errors.As(err, &wrong) {
		t.Errorf("got %v", err)
	}
}

// TestVariableAfterQuestion checks that a variable that is added after a
// question takes part in the next one.
func TestVariableAfterQuestion(t *testing.T) {
	p := new(solver.Problem)
	p.Require(p.NewVars(1), nil)
	for range 3 {
		if _, err := solver.Solve(t.Context(), p, nil); err != nil {
			t.Fatal(err)
		}
		v := p.NewVars(1)
		s, err := solver.NewSession(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Solve(t.Context(), &solver.WhatIf{Require: []solver.Var{v}}); err != nil || !got.Has(v) {
			t.Errorf("%v, %v", got, err)
		}
	}
}
