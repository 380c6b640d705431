package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// allFail makes a problem of one demand with n candidates, of which one may be
// selected. All candidates fail, in one of five ways, none of which shows in a
// single constraint.
func allFail(n, shape int) *solver.Problem {
	p := &solver.Problem{}
	s, w := p.Var("s"), p.Var("w")
	p.Require(w, nil)
	p.Require(s, nil)
	var all []solver.Var
	for i := range n {
		all = append(all, p.Var(fmt.Sprintf("v%d", i)))
	}
	p.Depend(s, all, nil)
	p.Limit(1, all, nil)
	for i, v := range all {
		x, y := p.Var(fmt.Sprintf("x%d", i)), p.Var(fmt.Sprintf("y%d", i))
		switch shape {
		case 0: // v needs x or y; both need z, which excludes v
			z := p.Var(fmt.Sprintf("z%d", i))
			p.Depend(v, []solver.Var{x, y}, nil)
			p.Depend(x, []solver.Var{z}, nil)
			p.Depend(y, []solver.Var{z}, nil)
			p.Exclude(z, v, nil)
		case 1: // v needs x and y, which exclude each other
			p.Depend(v, []solver.Var{x}, nil)
			p.Depend(v, []solver.Var{y}, nil)
			p.Exclude(x, y, nil)
		case 2: // v needs x or y, which both exclude w
			p.Depend(v, []solver.Var{x, y}, nil)
			p.Exclude(x, w, nil)
			p.Exclude(y, w, nil)
		case 3: // v needs x or y, which need other candidates
			p.Depend(v, []solver.Var{x, y}, nil)
			p.Depend(x, []solver.Var{all[(i+1)%n]}, nil)
			p.Depend(y, []solver.Var{all[(i+2)%n]}, nil)
		case 4: // v needs x or y, and z or u; each of the former excludes each of the latter
			z, u := p.Var(fmt.Sprintf("z%d", i)), p.Var(fmt.Sprintf("u%d", i))
			p.Depend(v, []solver.Var{x, y}, nil)
			p.Depend(v, []solver.Var{z, u}, nil)
			for _, pair := range [][2]solver.Var{{x, z}, {x, u}, {y, z}, {y, u}} {
				p.Exclude(pair[0], pair[1], nil)
			}
		}
	}
	return p
}

// BenchmarkAllFail reports the time per candidate, which does not grow with
// their number.
func BenchmarkAllFail(b *testing.B) {
	for shape := range 5 {
		for _, n := range []int{10_000, 100_000} {
			p := allFail(n, shape)
			b.Run(fmt.Sprintf("shape=%d/n=%d", shape, n), func(b *testing.B) {
				for b.Loop() {
					_, err := solver.Solve(context.Background(), p, nil)
					var unsat *solver.UnsatError
					if !errors.As(err, &unsat) {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/candidate")
			})
		}
	}
}

// TestEndsAtRandom ends the context at a random moment of every stage of an
// answer. Each stage returns the error of the context, unless it finished
// before; how late it returns is logged.
func TestEndsAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	failing := allFail(20_000, 1)
	graph := graphs[3].problem(1)
	hard := crowd(9, 8)
	_, refused := solver.Solve(context.Background(), crowd(8, 7), nil)
	var unsat *solver.UnsatError
	if !errors.As(refused, &unsat) {
		t.Fatal(refused)
	}
	answer, err := solver.Solve(context.Background(), graphs[2].problem(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := solver.NewSession(graph, nil)
	if err != nil {
		t.Fatal(err)
	}
	stages := []struct {
		name string
		do   func(ctx context.Context) error
	}{
		{"all candidates fail", func(ctx context.Context) error { _, err := solver.Solve(ctx, failing, nil); return err }},
		{"a graph", func(ctx context.Context) error { _, err := solver.Solve(ctx, graph, nil); return err }},
		{"pigeons", func(ctx context.Context) error { _, err := solver.Solve(ctx, hard, nil); return err }},
		{"session", func(ctx context.Context) error { _, err := session.Solve(ctx, nil); return err }},
		{"core", func(ctx context.Context) error { _, _, err := unsat.Core(ctx, nil); return err }},
		{"explain", func(ctx context.Context) error { _, err := unsat.Explain(ctx, nil); return err }},
		{"certificate", func(ctx context.Context) error { _, err := answer.Certificate(ctx); return err }},
		{"why not", func(ctx context.Context) error {
			_, err := answer.WhyNot(ctx, solver.Var(3+r.IntN(100)), nil)
			return err
		}},
	}
	for _, stage := range stages {
		ended := 0
		var late []time.Duration
		for range long.N(8, 200) {
			limit := time.Duration(r.Int64N(int64(20 * time.Millisecond)))
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			begin := time.Now()
			err := stage.do(ctx)
			took := time.Since(begin)
			cancel()
			var incomplete *solver.IncompleteError
			switch {
			case errors.Is(err, context.DeadlineExceeded):
				ended++
				late = append(late, took-limit)
			case errors.As(err, &incomplete):
				t.Errorf("%s: ended by nothing: %v", stage.name, err)
			}
		}
		if slices.Sort(late); ended > 0 {
			t.Logf("%s: ended %d times, late by %v, at most %v", stage.name, ended, late[ended/2], late[ended-1])
		}
	}
}
