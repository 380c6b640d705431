package solver_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// TestHelpersStay asks with all budgets why what is hard to refute was not selected,
// though criteria want it: no answer names what Minimize adds to the problem.
func TestHelpersStay(t *testing.T) {
	p := crowd(6, 5)
	demands, some := p.NumConstraints(), solver.Var(1)
	// The crowd is there only if w is.
	q := &solver.Problem{}
	q.NewVars(p.NumVars())
	w, y, z := q.Var("w"), q.Var("y"), q.Var("z")
	q.Any([]solver.Lit{w.Yes(), z.Yes()}, nil)
	q.Depend(z, []solver.Var{y}, nil)
	for id := range demands {
		q.Any(append([]solver.Lit{w.No()}, p.Constraint(id).Lits...), nil)
	}
	criteria := []solver.Criterion{{Name: "wish", Terms: []solver.Term{{Lit: some.Yes(), Weight: 1}, {Lit: w.No(), Weight: 7}, {Lit: y.No(), Weight: 3}}}}
	ctx := context.Background()
	best, err := solver.Minimize(ctx, q, criteria, nil)
	if err != nil {
		t.Fatal(err)
	}
	rough := 0
	for n := int64(0); n < 20_000; n = 1 + 2*n {
		r, err := best.Solution.WhyNot(ctx, w, &solver.ExplainOptions{Budget: solver.NewBudget(n)})
		if err != nil || r.Kind != solver.Impossible {
			t.Fatalf("%v, %v", r, err)
		}
		if !r.Minimal {
			rough++
		}
		for _, c := range r.Core {
			if c.ID >= q.NumConstraints() {
				t.Errorf("%d conflicts: constraint %d (%s) is not the caller's", n, c.ID, c)
			}
		}
		if text := fmt.Sprint(r, r.Core, r.Given); strings.Contains(text, "the criterion") || strings.Contains(text, fmt.Sprintf("variable %d", q.NumVars()+1)) {
			t.Errorf("%d conflicts: it names what is not the caller's: %s", n, text)
		}
	}
	if rough == 0 {
		t.Error("every reason is minimal")
	}
	if cert, err := best.Solution.Certificate(ctx); err == nil || !strings.Contains(err.Error(), "Optimum.Certificate") {
		t.Errorf("a certificate by the rule of Solve: %v, %v", cert, err)
	}
}

// TestEffortsBeyondInt has efforts whose sums exceed an int: the cheapest fix still
// comes first, and drops nothing that need not be.
func TestEffortsBeyondInt(t *testing.T) {
	p := &solver.Problem{}
	for i, effort := range []int{math.MaxInt, math.MaxInt, 1, math.MaxInt/2 + 1} {
		name := string(rune('a' + i))
		p.Require(p.Var(name), solver.Advised(name+" is wanted", "drop "+name, effort))
	}
	a, b, c, d := solver.Var(1), solver.Var(2), solver.Var(3), solver.Var(4)
	p.Exclude(a, b, nil)
	p.Exclude(a, c, nil)
	p.Exclude(b, d, nil)
	x := explain(t, p, nil)
	var got []string
	for _, f := range x.Fixes {
		got = append(got, fmt.Sprint(f.Advice, f.Effort == math.MaxInt, f.Minimal))
	}
	want := []string{"[drop b drop c] true true", "[drop a drop d] true true", "[drop a drop b] true true"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
