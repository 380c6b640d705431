package solver_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// TestWeightsThatFit pays weights up to the largest number there is, and refuses
// criteria whose weights add up to more.
func TestWeightsThatFit(t *testing.T) {
	ctx := context.Background()
	choice := func(weights ...int64) (*solver.Problem, solver.Criterion) {
		p, k := &solver.Problem{}, solver.Criterion{Name: "price"}
		var lits []solver.Lit
		for _, w := range weights {
			v := p.NewVars(1)
			lits = append(lits, v.Yes())
			k.Terms = append(k.Terms, solver.Term{Lit: v.Yes(), Weight: w})
		}
		p.Any(lits, nil)
		return p, k
	}
	for _, weights := range [][]int64{{math.MaxInt64}, {math.MaxInt64, 0}, {math.MaxInt64 - 5, 5}, {1 << 62, 1<<62 - 1}, {3e18, 3e18, 3e18}} {
		p, k := choice(weights...)
		best, err := solver.Minimize(ctx, p, []solver.Criterion{k}, nil)
		if err != nil {
			t.Fatalf("%v: %v", weights, err)
		}
		least := int64(math.MaxInt64)
		for _, w := range weights {
			least = min(least, w)
		}
		if best.Costs[0] != least {
			t.Errorf("%v: costs %d", weights, best.Costs[0])
		}
		cert, err := best.Certificate(ctx)
		if err != nil {
			t.Fatalf("%v: %v", weights, err)
		}
		if costs, err := solver.CheckOptimum(ctx, p, []solver.Criterion{k}, cert); err != nil || costs[0] != least {
			t.Errorf("%v: %v, %v", weights, costs, err)
		}
	}
	for _, weights := range [][]int64{{math.MaxInt64, 1}, {6e18, 6e18, 7e18}, {math.MaxInt64, math.MaxInt64}} {
		p, k := choice(weights...)
		_, err := solver.Minimize(ctx, p, []solver.Criterion{k}, nil)
		var bad *solver.ProblemError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "price") {
			t.Errorf("%v: %v", weights, err)
		}
		if _, err := solver.CheckOptimum(ctx, p, []solver.Criterion{k}, &solver.OptimumCertificate{}); !errors.As(err, &bad) {
			t.Errorf("%v: checked: %v", weights, err)
		}
	}
}

// TestLastResort checks that the largest effort stays the last one.
func TestLastResort(t *testing.T) {
	p := &solver.Problem{}
	a, b, c := p.Var("a"), p.Var("b"), p.Var("c")
	p.Require(a, solver.Advised("a is wanted", "give up a", math.MaxInt))
	p.Require(b, solver.Advised("b is wanted", "give up b", math.MaxInt))
	p.Exclude(a, b, nil)
	p.Require(c, solver.Advised("c is wanted", "give up c", 1))
	p.Exclude(a, c, solver.Advised("a and c do not go together", "put c elsewhere", 2))
	_, err := solver.Solve(context.Background(), p, nil)
	var unsat *solver.UnsatError
	if !errors.As(err, &unsat) {
		t.Fatal(err)
	}
	x, err := unsat.Explain(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	before := 0
	for _, f := range x.Fixes {
		if f.Effort < before || f.Effort < 1 {
			t.Errorf("effort %d after %d", f.Effort, before)
		}
		before = f.Effort
	}
	if len(x.Fixes) == 0 || x.Fixes[0].Effort != math.MaxInt {
		t.Errorf("%v", x.Fixes)
	}
}

// TestFacts checks that a plain reason makes a constraint a fact, that an advised
// one and none do not.
func TestFacts(t *testing.T) {
	p := &solver.Problem{}
	a, b := p.Var("a"), p.Var("b")
	p.Require(a, solver.Text("the contract says so"))
	p.Require(b, solver.Advised("somebody wants b", "do without b", 5))
	p.Exclude(a, b, nil)
	_, err := solver.Solve(context.Background(), p, nil)
	var unsat *solver.UnsatError
	if !errors.As(err, &unsat) {
		t.Fatal(err)
	}
	x, err := unsat.Explain(context.Background(), nil)
	if err != nil || len(x.Fixes) != 1 || len(x.Fixes[0].Drop) != 1 || x.Fixes[0].Drop[0].ID != 1 || x.Fixes[0].Advice[0] != "do without b" {
		t.Errorf("%v, %v", x, err)
	}
}

// TestWishes asks why an optimum lacks what its criterion wants: nothing but the
// variables of the problem is named.
func TestWishes(t *testing.T) {
	ctx := context.Background()
	p := &solver.Problem{}
	keep, drop, other, dear, cheap := p.Var("keep 1"), p.Var("drop 1"), p.Var("other 2"), p.Var("dear 1"), p.Var("cheap 1")
	p.Require(other, nil)
	p.Exclude(drop, other, nil)
	p.Depend(other, []solver.Var{dear, cheap}, nil)
	best, err := solver.Minimize(ctx, p, []solver.Criterion{
		{Name: "removed", Terms: []solver.Term{{Lit: keep.No(), Weight: 1}, {Lit: drop.No(), Weight: 1}}},
		{Name: "price", Terms: []solver.Term{{Lit: dear.Yes(), Weight: 9}, {Lit: cheap.Yes(), Weight: 1}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := best.Solution
	if s.Problem() != p || s.Len() != 3 || !s.Has(keep) || s.Has(drop) || len(s.Steps()) != 3 {
		t.Errorf("%d selected, %v", s.Len(), s.Steps())
	}
	for v := range s.Selected() {
		if int(v) > p.NumVars() {
			t.Errorf("variable %d is selected, the problem has %d", v, p.NumVars())
		}
	}
	for v, want := range map[solver.Var]solver.RefusalKind{drop: solver.Impossible, dear: solver.Costly} {
		r, err := s.WhyNot(ctx, v, nil)
		if err != nil || r.Kind != want || int(r.Instead) > p.NumVars() || strings.Contains(r.String(), "variable ") {
			t.Errorf("%s: %v, %v", p.Name(v), r, err)
		}
	}
	for _, step := range append(s.Steps(), s.Why(keep)...) {
		for _, l := range step.Demand.Lits {
			if int(l.Var()) > p.NumVars() {
				t.Errorf("%v is about variable %d", step, l.Var())
			}
		}
		if text := step.String(); strings.Contains(text, "variable ") {
			t.Error(text)
		}
	}
}
