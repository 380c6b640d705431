package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// bytesOf draws from bytes; past their end, it draws only 0.
func bytesOf(data []byte) source {
	return func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b) % n
	}
}

// TestEngineSurvives runs the SAT engine on many different problems, with few
// and with many conflicts, and checks the answers: with the judge, and against
// Solve, which has its own search. The engine must not panic or end the
// process, which it does if its own check of a model fails.
func TestEngineSurvives(t *testing.T) {
	ctx := context.Background()
	runs, problems, told := 0, 0, 0
	for seed := uint64(0); runs < long.N(8_000, 10_000_000); seed++ {
		draw := randomly(rand.New(rand.NewPCG(seed, 6)))
		var p *solver.Problem
		switch seed % 64 {
		case 0:
			g := graphs[0]
			g.packages = 6 + draw(12)
			p = g.problem(int64(seed))
		case 1:
			p = pigeons(3+draw(3), 2+draw(3))
		case 2:
			p = build(draw, 26)
		default:
			p = tangle(draw, 12+draw(40))
		}
		problems++
		if runs/1_000_000 > told { // it may run for hours
			told++
			t.Logf("%d runs of the engine on %d problems so far", runs, problems)
		}
		blind, blindErr := solver.SolveByTrials(ctx, p, &runs)
		s, err := solver.Solve(ctx, p, nil)
		if (err == nil) != (blindErr == nil) || err == nil && fmt.Sprint(blind.Steps()) != fmt.Sprint(s.Steps()) {
			t.Fatalf("seed %d: %v, %v\n%s", seed, err, blindErr, describe(p))
		}
		var unsat *solver.UnsatError
		if err != nil && !errors.As(err, &unsat) {
			t.Fatal(err)
		}
	}
	t.Logf("%d runs of the engine on %d problems", runs, problems)
}

// FuzzSolve builds problems from bytes and compares Solve with the oracle on
// them; then it asks a session about changes to them.
func FuzzSolve(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 8 {
		data := make([]byte, 40+r.IntN(200))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		draw := bytesOf(data)
		kind := build
		if draw(2) == 1 {
			kind = tangle
		}
		p := kind(draw, 12)
		if p.NumConstraints() > 200 {
			return
		}
		compare(t, draw, p)
		compareSession(t, draw, p, 3)
	})
}
