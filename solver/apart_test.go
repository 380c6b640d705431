package solver_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// TestApart solves problems also with many variables beside them that nothing calls
// for, so that the hard part is searched apart: answers and refutations are the same,
// and with a budget, what is said to be proven is.
func TestApart(t *testing.T) {
	beside := func(p *solver.Problem) *solver.Problem {
		p.NewVars(10 * p.NumVars())
		return p
	}
	solved, refuted := 0, 0
	for seed := range int64(10) {
		for _, make := range []func() *solver.Problem{
			func() *solver.Problem { return graphs[3].problem(seed) },
			func() *solver.Problem { return web(14, 7, 3, uint64(seed)) },
		} {
			s, err := solver.Solve(context.Background(), make(), nil)
			own, ownErr := solver.Solve(context.Background(), beside(make()), nil)
			switch {
			case err == nil && ownErr == nil && fmt.Sprint(s.Steps()) == fmt.Sprint(own.Steps()):
				solved++
			case errors.As(err, new(*solver.UnsatError)) && fmt.Sprint(err) == fmt.Sprint(ownErr):
				refuted++
			default:
				t.Errorf("seed %d: by itself %v %v, apart %v %v", seed, s, err, own, ownErr)
			}
		}
	}
	partial, proven := 0, 0
	for seed := range int64(4) {
		n, k := withBudgets(t, beside(graphs[4].problem(seed)))
		partial, proven = partial+n, proven+k
	}
	if solved < 5 || refuted < 5 || partial == 0 || proven == 0 {
		t.Errorf("%d solved, %d refuted, %d partial answers, %d choices proven", solved, refuted, partial, proven)
	}
}
