package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// TestGraphsCertified has the judge verify that the answers for package graphs,
// which are too large for brute force, are the best ones.
func TestGraphsCertified(t *testing.T) {
	ctx := context.Background()
	solved := 0
	for i, g := range graphs[:2] { // the judge is too simple for larger ones
		for seed := range int64(long.N(8, 5000)) {
			p := g.problem(seed)
			s, err := solver.Solve(ctx, p, nil)
			blind, blindErr := solver.SolveByTrials(ctx, p, new(int))
			if got, want := outcome(t, p, blind, blindErr), outcome(t, p, s, err); got != want {
				t.Fatalf("graph %d, seed %d: with all work left to the SAT engine %s, else %s", i, seed, got, want)
			}
			var unsat *solver.UnsatError
			if errors.As(err, &unsat) {
				core, _, err := unsat.Core(ctx, nil)
				if err != nil {
					t.Fatal(err)
				}
				var ids []int
				for _, c := range core {
					ids = append(ids, c.ID)
				}
				r, err := p.Refute(ctx, ids...)
				if err != nil {
					t.Fatal(err)
				}
				if err := solver.CheckRefutation(ctx, p, r); err != nil {
					t.Errorf("graph %d, seed %d: %v", i, seed, err)
				}
				continue
			}
			cert, err := s.Certificate(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if err := solver.Check(ctx, p, cert); err != nil {
				t.Errorf("graph %d, seed %d: %v", i, seed, err)
			}
			solved++
		}
	}
	if solved < 8 {
		t.Errorf("only %d graphs have an answer", solved)
	}
}

// islands returns problems that have nothing in common, in a notation that
// allows any order of addition.
func islands(r *rand.Rand) [][]string {
	all := make([][]string, 2+r.IntN(3))
	for i := range all {
		p := tangle(randomly(r), 9)
		for id := range p.NumConstraints() {
			c := p.Constraint(id)
			line := []string{"any"}
			if c.Kind == solver.Limitation {
				line = []string{"limit", fmt.Sprint(c.N)}
			}
			for _, l := range c.Lits {
				mark := ""
				if !l.Selects() {
					mark = "!"
				}
				line = append(line, fmt.Sprintf("%s%s%d", mark, p.Name(l.Var()), i))
			}
			all[i] = append(all[i], strings.Join(line, " "))
		}
	}
	return all
}

// TestDeterministic adds independent problems in many different orders, on one
// processor and on several, and checks that the answers, certificates and
// explanations are always equal.
func TestDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for seed := range uint64(long.N(25, 500)) {
		r := rand.New(rand.NewPCG(seed, 4))
		all := islands(r)
		want := ""
		for run := range long.N(40, 1000) {
			runtime.GOMAXPROCS(1 + run%2*3)
			var left []int
			for i := range all {
				left = append(left, slices.Repeat([]int{i}, len(all[i]))...)
			}
			r.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
			var text strings.Builder
			next := make([]int, len(all))
			for _, i := range left {
				fmt.Fprintln(&text, all[i][next[i]])
				next[i]++
			}
			got := canonical(t, parse(t, text.String()))
			if run == 0 {
				want = got
			}
			if got != want {
				t.Fatalf("got\n%s\nfor\n%s\nbefore it was\n%s", got, text.String(), want)
			}
		}
	}
}

// canonical renders what does not depend on the order of parts.
func canonical(t *testing.T, p *solver.Problem) string {
	s, err := solver.Solve(context.Background(), p, nil)
	var lines []string
	var unsat *solver.UnsatError
	switch {
	case errors.As(err, &unsat):
		x, err := unsat.Explain(context.Background(), &solver.ExplainOptions{MaxFixes: -1})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range x.Conflicts {
			var tell func(all []*solver.Statement, indent string) string
			tell = func(all []*solver.Statement, indent string) string {
				out := ""
				for _, s := range all {
					out += indent + s.Text + "\n" + tell(s.Children, indent+" ")
				}
				return out
			}
			lines = append(lines, tell(c.Tree, ""))
		}
	case err != nil:
		t.Fatal(err)
	default:
		cert, err := s.Certificate(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range s.Steps() {
			line := fmt.Sprintf("%s, since %s", p.Name(step.Pick), step.Demand.Demand())
			for _, r := range cert.Steps[i].Refused {
				line += "; not " + p.Name(r.Var)
				for _, id := range cert.Core(r) {
					line += ", " + p.Constraint(id).Demand()
				}
				for _, at := range r.Given {
					line += ", given " + p.Name(cert.Steps[at].Pick)
				}
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestSameInputSameBytes solves the same problems many times, and checks that
// every output is the same.
func TestSameInputSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, g := range []*solver.Problem{graphs[0].problem(0), graphs[0].problem(1), pigeons(4, 3)} {
		want := ""
		for run := range 340 {
			runtime.GOMAXPROCS(1 + run%2)
			got := ""
			s, err := solver.Solve(context.Background(), g, nil)
			var unsat *solver.UnsatError
			if errors.As(err, &unsat) {
				x, err := unsat.Explain(context.Background(), nil)
				if err != nil {
					t.Fatal(err)
				}
				var out strings.Builder
				if err := x.WriteJSON(&out); err != nil {
					t.Fatal(err)
				}
				got = out.String() + x.String()
			} else if err != nil {
				t.Fatal(err)
			} else {
				got = fmt.Sprint(s.Steps())
			}
			if run == 0 {
				want = got
			}
			if got != want {
				t.Fatalf("got\n%s\nbefore it was\n%s", got, want)
			}
			if run > 20 && !long.Enabled() && len(want) > 4000 {
				break
			}
		}
	}
}

// TestConcurrent uses the same problem, answer and error in several goroutines,
// for the race detector.
func TestConcurrent(t *testing.T) {
	p, hopeless := graphs[0].problem(1), pigeons(4, 3)
	s, err := solver.Solve(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = solver.Solve(context.Background(), hopeless, nil)
	var unsat *solver.UnsatError
	if !errors.As(err, &unsat) {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if _, err := solver.Solve(ctx, p, nil); err != nil {
				t.Error(err)
			}
			if _, err := s.Certificate(ctx); err != nil {
				t.Error(err)
			}
			if _, err := s.WhyNot(ctx, 7, nil); err != nil {
				t.Error(err)
			}
			if _, err := unsat.Explain(ctx, nil); err != nil {
				t.Error(err)
			}
			session, err := solver.NewSession(p, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := session.Solve(ctx, &solver.WhatIf{Forbid: []solver.Var{2}}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
