package solver_test

import (
	"context"
	"errors"
	"fmt"
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
	{"solver/stating/packages=20000", func() func() (int, string, error) {
		state := distribution(headlinePackages)
		return func() (int, string, error) { return state().NumVars(), "packages", nil }
	}},
	{"solver/questions/packages=20000", func() func() (int, string, error) {
		p := distribution(headlinePackages)()
		return func() (int, string, error) { return askAll(p) }
	}},
	{"solver/hard/packages=100/versions=1000", func() func() (int, string, error) {
		p := graphs[4].problem(4)
		return func() (int, string, error) {
			s, err := solver.Solve(context.Background(), p, nil)
			if err != nil {
				return 0, "", err
			}
			return s.Len(), "packages", nil
		}
	}},
	{"solver/minimize/packages=20000", func() func() (int, string, error) {
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
	{"solver/lazy/needs=1000/candidates=20000", func() func() (int, string, error) {
		return func() (int, string, error) { return askShelf(shelf{1}, 1000) }
	}},
	{"solver/lazy/chain=500/candidates=10000", func() func() (int, string, error) {
		return func() (int, string, error) { return askShelf(shelf{500}, 1) }
	}},
	{"solver/explain/packages=60/versions=1200", func() func() (int, string, error) {
		p := web(60, 20, 3, 5)
		return func() (int, string, error) {
			_, err := solver.Solve(context.Background(), p, nil)
			var unsat *solver.UnsatError
			if !errors.As(err, &unsat) {
				return 0, "", fmt.Errorf("not refuted: %v", err)
			}
			x, err := unsat.Explain(context.Background(), nil)
			if err != nil {
				return 0, "", err
			}
			return len(x.Conflicts[0].Core), "constraints", nil
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

// shelf is a registry of packages of 20 versions each: package i needs i+1 if
// that is in the same chain, and one in four newest versions needs what does
// not exist.
type shelf struct{ chain int }

func (s shelf) Candidates(_ context.Context, needs []string) ([][]solver.Candidate, error) {
	all := make([][]solver.Candidate, len(needs))
	for i, n := range needs {
		for v := 20; v > 0 && n != "nothing"; v-- {
			all[i] = append(all[i], solver.Candidate{Name: fmt.Sprintf("%s-%d", n, v), Slot: n})
		}
	}
	return all, nil
}

func (s shelf) Requirements(_ context.Context, candidates []string) ([]solver.Requirements, error) {
	all := make([]solver.Requirements, len(candidates))
	for i, c := range candidates {
		var n, v int
		if _, err := fmt.Sscanf(c, "p%d-%d", &n, &v); err != nil {
			return nil, err
		}
		if (n+1)%s.chain != 0 {
			all[i].Needs = append(all[i].Needs, fmt.Sprint("p", n+1))
		}
		if n%4 == 0 && v == 20 {
			all[i].Needs = append(all[i].Needs, "nothing")
		}
	}
	return all, nil
}

// askShelf solves for the given needs, and returns how often the registry was
// asked.
func askShelf(s shelf, needs int) (int, string, error) {
	var texts []string
	for i := range needs {
		texts = append(texts, fmt.Sprint("p", i*s.chain))
	}
	l := solver.NewLazy(s)
	found, err := l.Solve(context.Background(), texts, nil)
	if err == nil && found.Len() != needs*s.chain {
		err = fmt.Errorf("%d selected", found.Len())
	}
	return l.Asked().Calls, "calls", err
}
