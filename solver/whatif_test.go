package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// changed makes the problem that a what-if describes.
func changed(p *solver.Problem, w *solver.WhatIf) *solver.Problem {
	q := &solver.Problem{}
	for v := range p.NumVars() {
		q.Var(p.Name(solver.Var(v + 1)))
	}
	for id := range p.NumConstraints() {
		c := p.Constraint(id)
		var vars []solver.Var
		for _, l := range c.Lits {
			vars = append(vars, l.Var())
		}
		switch {
		case slices.Contains(w.Drop, id):
			q.Limit(0, nil, nil)
		case c.Kind == solver.Limitation:
			q.Limit(c.N, vars, nil)
		case c.Kind == solver.Requirement:
			q.Require(vars[0], nil)
		case c.Kind == solver.Prohibition:
			q.Forbid(vars[0], nil)
		default:
			q.Any(c.Lits, nil)
		}
	}
	for _, v := range w.Require {
		q.Require(v, nil)
	}
	for _, v := range w.Forbid {
		q.Forbid(v, nil)
	}
	return q
}

// suppose draws a change.
func suppose(draw source, p *solver.Problem) *solver.WhatIf {
	w := &solver.WhatIf{}
	for range draw(3) {
		w.Require = append(w.Require, solver.Var(1+draw(p.NumVars())))
	}
	for range draw(3) {
		w.Forbid = append(w.Forbid, solver.Var(1+draw(p.NumVars())))
	}
	for range draw(3) {
		if n := p.NumConstraints(); n > 0 {
			w.Drop = append(w.Drop, draw(n))
		}
	}
	return w
}

// outcome returns what a solve returned, as text.
func outcome(t testing.TB, p *solver.Problem, s *solver.Solution, err error) string {
	var unsat *solver.UnsatError
	if errors.As(err, &unsat) {
		core, _, err := unsat.Core(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		out := "core:"
		for _, c := range core {
			out += fmt.Sprintf(" %d", c.ID)
		}
		return out
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, describe(p))
	}
	return selected(p, s)
}

// compareSession solves p under changes with one session, and compares the
// results with those for the changed problems.
func compareSession(t testing.TB, draw source, p *solver.Problem, changes int) {
	session, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for range changes {
		w := suppose(draw, p)
		s, err := session.Solve(ctx, w)
		got := outcome(t, p, s, err)
		q := changed(p, w)
		s, err = solver.Solve(ctx, q, nil)
		if want := outcome(t, q, s, err); got != want {
			t.Fatalf("with %+v got %s, want %s\n%s", *w, got, want, describe(p))
		}
	}
}

func TestSessionAnswersLikeSolve(t *testing.T) {
	for seed := range uint64(long.N(800, 200_000)) {
		draw := randomly(rand.New(rand.NewPCG(seed, 2)))
		compareSession(t, draw, build(draw, 12), 8)
	}
}

func TestSessionOnGraphs(t *testing.T) {
	for seed := range int64(long.N(6, 300)) {
		draw := randomly(rand.New(rand.NewPCG(uint64(seed), 3)))
		compareSession(t, draw, graphs[seed%2].problem(seed), 10)
	}
}

func TestSessionRefusesUnknownConstraint(t *testing.T) {
	p := &solver.Problem{}
	p.Require(p.Var("a"), nil)
	s, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []*solver.WhatIf{{Drop: []int{1}}, {Drop: []int{-1}}, {Require: []solver.Var{2}}, {Forbid: []solver.Var{0}}} {
		_, err := s.Solve(context.Background(), w)
		var malformed *solver.ProblemError
		if !errors.As(err, &malformed) || len(malformed.Flaws) != 1 {
			t.Errorf("%+v: got %v", *w, err)
		}
	}
	if _, err := s.Solve(context.Background(), nil); err != nil {
		t.Error(err)
	}
}

// A counted context counts how often it is checked: once every few thousand
// steps.
type counted struct {
	context.Context
	looks int
}

func (c *counted) Err() error {
	c.looks++
	return c.Context.Err()
}

// TestQuestionCostsWhatItReaches asks about an app whose first choice of a
// library fails late. Thousands of packages need the library in the other
// version, and thousands more need those. The session must not spend work on
// finding out that none of them is possible then.
func TestQuestionCostsWhatItReaches(t *testing.T) {
	p := &solver.Problem{}
	one := func() solver.Var { return p.NewVars(1) }
	app, first, second, old, recent := one(), one(), one(), one(), one()
	p.Depend(app, []solver.Var{first, second}, nil)
	p.Limit(1, []solver.Var{old, recent}, nil)
	for range 2_000 {
		needs := one()
		p.Depend(needs, []solver.Var{old}, nil)
		for range 20 {
			p.Depend(one(), []solver.Var{needs}, nil)
		}
	}
	// The first choice needs both versions, each through a different package.
	left, right := one(), one()
	p.Depend(first, []solver.Var{left}, nil)
	p.Depend(first, []solver.Var{right}, nil)
	p.Depend(left, []solver.Var{old}, nil)
	p.Depend(right, []solver.Var{recent}, nil)
	p.Depend(second, []solver.Var{recent}, nil)
	s, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := &counted{Context: context.Background()}
	for range 3 { // by the last round, everything is built and learned
		ctx.looks = 0
		solution, err := s.Solve(ctx, &solver.WhatIf{Require: []solver.Var{app}})
		if err != nil || !solution.Has(second) {
			t.Fatalf("got %v, %v", solution, err)
		}
	}
	if ctx.looks > 3 {
		t.Errorf("the context was looked at %d times: the question costs what it does not reach", ctx.looks)
	}
}
