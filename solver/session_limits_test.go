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

// crammed draws a problem in which limitations decide: packages whose versions need
// others, and limitations with room for none to three of what they list. Most of the
// packages are in the reach of a few questions only.
func crammed(draw source) *solver.Problem {
	p := &solver.Problem{}
	n := 6 + draw(9)
	p.NewVars(n)
	some := func() solver.Var { return solver.Var(1 + draw(n)) }
	list := func(most int) []solver.Var {
		vars := make([]solver.Var, 1+draw(most))
		for i := range vars {
			vars[i] = some()
		}
		return vars
	}
	for range n/2 + draw(n) {
		switch draw(9) {
		case 0:
			p.Require(some(), nil)
		case 1, 2, 3:
			p.Depend(some(), list(3), nil)
		case 4:
			p.DependOn(some(), p.Set(list(3)), nil)
		case 5:
			p.Any([]solver.Lit{some().No(), some().No(), some().Yes(), some().Yes()}, nil)
		default:
			p.Any([]solver.Lit{some().Yes(), some().Yes()}, nil)
		}
	}
	for range 1 + draw(5) {
		if most := draw(4); draw(4) == 0 {
			p.LimitOf(most, p.Set(list(n)), nil)
		} else {
			p.Limit(most, list(2+2*most), nil)
		}
	}
	return p
}

// TestSessionCountsLikeSolve asks sessions about problems full of limitations: with
// some of them dropped, and with other requirements and prohibitions each time. What
// is left out because it cannot be selected in one question must not be missing in
// the next. Verdicts and answers are those of Solve.
func TestSessionCountsLikeSolve(t *testing.T) {
	ctx := context.Background()
	met, refuted, dropped := 0, 0, 0
	for seed := range uint64(long.N(2_000, 200_000)) {
		draw := randomly(rand.New(rand.NewPCG(seed, 47)))
		p := crammed(draw)
		session, err := solver.NewSession(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		for question := range 6 {
			w := suppose(draw, p)
			for id := range p.NumConstraints() {
				if p.Constraint(id).Kind == solver.Limitation && draw(3) == 0 {
					w.Drop = append(w.Drop, id)
					dropped++
				}
			}
			q := changed(p, w)
			want, wantErr := solver.Solve(ctx, q, nil)
			got, err := session.Solve(ctx, w)
			switch {
			case wantErr == nil:
				met++
			case errors.As(wantErr, new(*solver.UnsatError)):
				refuted++
			}
			if fmt.Sprintf("%T", err) != fmt.Sprintf("%T", wantErr) || err == nil && selected(p, got) != selected(p, want) {
				t.Fatalf("seed %d, question %d, %+v: %v, %v; want %v, %v\n%s", seed, question, *w, got, err, want, wantErr, describe(p))
			}
		}
	}
	if least := long.N(2_000, 200_000) / 2; met < least || refuted < least || dropped < least {
		t.Errorf("only %d questions have an answer, %d have none; %d limitations were dropped", met, refuted, dropped)
	}
}
