package solver_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// TestLateVariables adds variables after sessions and answers were made. What names
// one of them is refused; everything else is answered as before.
func TestLateVariables(t *testing.T) {
	ctx := context.Background()
	p := parse(t, "require app\napp needs x y\nx needs z\nexclude x z")
	app, _ := p.Lookup("app")
	y, _ := p.Lookup("y")
	session, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := solver.NewPool(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := session.Solve(ctx, &solver.WhatIf{Require: []solver.Var{y}})
	if err != nil {
		t.Fatal(err)
	}
	best, err := solver.Minimize(ctx, p, []solver.Criterion{{Terms: []solver.Term{{Lit: 2, Weight: 1}, {Lit: y.No(), Weight: 1}, {Lit: -4, Weight: 1}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := p.NumVars()
	late := p.NewVars(200)
	for _, v := range []solver.Var{late, late + 199} {
		for _, w := range []*solver.WhatIf{{Require: []solver.Var{v}}, {Forbid: []solver.Var{app, v}, Drop: []int{1}}} {
			for name, solve := range map[string]func(context.Context, *solver.WhatIf) (*solver.Solution, error){"session": session.Solve, "pool": pool.Solve} {
				var bad *solver.ProblemError
				if _, err := solve(ctx, w); !errors.As(err, &bad) || !strings.Contains(err.Error(), "after the session began") {
					t.Errorf("%s, %+v: %v", name, *w, err)
				}
			}
		}
		if _, err := best.Solution.WhyNot(ctx, v, nil); !errors.As(err, new(*solver.ProblemError)) {
			t.Errorf("why not %d: %v", v, err)
		}
		if r, err := first.WhyNot(ctx, v, nil); err != nil || r.Kind != solver.NotAsked {
			t.Errorf("why not %d: %v, %v", v, r, err)
		}
	}
	for v := range best.Solution.Selected() {
		if int(v) > before {
			t.Errorf("variable %d of the package's own is selected", v)
		}
	}
	for _, drop := range []int{1, 2, 3} { // what is dropped for the first time gets a variable of its own
		w := &solver.WhatIf{Drop: []int{drop}}
		s, err := session.Solve(ctx, w)
		q := changed(p, w)
		want, wantErr := solver.Solve(ctx, q, nil)
		if got, want := outcome(t, p, s, err), outcome(t, q, want, wantErr); got != want {
			t.Errorf("without %d: %s, want %s", drop, got, want)
		}
	}
}

// TestWhyNotOfNothing asks about what is not a variable.
func TestWhyNotOfNothing(t *testing.T) {
	p := parse(t, "require a")
	s, err := solver.Solve(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []solver.Var{0, -1, 2, 500, math.MaxInt32, math.MinInt32} {
		var bad *solver.ProblemError
		if r, err := s.WhyNot(context.Background(), v, nil); !errors.As(err, &bad) || strings.Contains(err.Error(), "constraint") {
			t.Errorf("%d: %v, %v", v, r, err)
		}
	}
}
