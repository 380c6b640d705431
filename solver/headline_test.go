package solver_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// distribution makes up packages like those of a Linux distribution: most need
// a few earlier ones, the first ones most of all; some needs have alternatives,
// and some packages exclude each other. Variables have numbers, but no names.
func distribution(n int) func() *solver.Problem {
	type pkg struct {
		needs    [][]solver.Var
		excludes solver.Var
	}
	r := rand.New(rand.NewPCG(1, 10))
	all := make([]pkg, n)
	for i := 1; i < n; i++ {
		earlier := func() solver.Var {
			return solver.Var(1 + int(float64(i)*r.Float64()*r.Float64()*r.Float64()))
		}
		for range r.IntN(6) {
			clause := []solver.Var{earlier()}
			for r.IntN(4) == 0 {
				clause = append(clause, earlier())
			}
			all[i].needs = append(all[i].needs, clause)
		}
		if r.IntN(400) == 0 {
			all[i].excludes = solver.Var(1 + r.IntN(i))
		}
	}
	return func() *solver.Problem {
		p := &solver.Problem{}
		p.Grow(n, 3*n, 6*n)
		p.NewVars(n)
		for i := range all {
			v := solver.Var(i + 1)
			for _, clause := range all[i].needs {
				p.Depend(v, clause, nil)
			}
			if all[i].excludes != 0 {
				p.Exclude(v, all[i].excludes, nil)
			}
		}
		return p
	}
}

// headline lists the figures by which the solver is judged, on made-up
// problems: each function runs once, and returns what users count.
var headline = []struct {
	name string
	make func() func() (count int, unit string, err error)
}{
	{"solver/stating", func() func() (int, string, error) {
		state := distribution(headlinePackages)
		return func() (int, string, error) { return state().NumVars(), "packages", nil }
	}},
	{"solver/questions", func() func() (int, string, error) {
		p := distribution(headlinePackages)()
		return func() (int, string, error) { return askAll(p) }
	}},
	{"solver/hard", func() func() (int, string, error) {
		p := graphs[4].problem(4)
		return func() (int, string, error) {
			s, err := solver.Solve(context.Background(), p, nil)
			if err != nil {
				return 0, "", err
			}
			return s.Len(), "packages", nil
		}
	}},
	{"solver/minimize", func() func() (int, string, error) {
		p := distribution(headlinePackages)()
		p.Require(headlinePackages, nil)
		fewest := solver.Criterion{Name: "packages"}
		for v := solver.Var(1); v <= headlinePackages; v++ {
			fewest.Terms = append(fewest.Terms, solver.Term{Lit: v.Yes(), Weight: 1})
		}
		return func() (int, string, error) {
			best, err := solver.Minimize(context.Background(), p, []solver.Criterion{fewest}, nil)
			if err != nil {
				return 0, "", err
			}
			return int(best.Costs[0]), "packages", nil
		}
	}},
}

const headlinePackages = 20_000

// askAll asks of every package whether it can be installed, and counts those
// that cannot.
func askAll(p *solver.Problem) (int, string, error) {
	session, err := solver.NewSession(p, nil)
	if err != nil {
		return 0, "", err
	}
	broken := 0
	var unsat *solver.UnsatError
	for v := solver.Var(1); int(v) <= p.NumVars(); v++ {
		_, err := session.Solve(context.Background(), &solver.WhatIf{Require: []solver.Var{v}})
		if errors.As(err, &unsat) {
			broken++
		} else if err != nil {
			return 0, "", err
		}
	}
	return broken, "broken", nil
}

func BenchmarkHeadline(b *testing.B) {
	for _, h := range headline {
		b.Run(h.name, func(b *testing.B) {
			run := h.make()
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				count, unit, err := run()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(count), unit)
			}
		})
	}
}
