package solver_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// rivals draws demands that compete for a few slots. Some of them have room for
// several, some leave out a candidate, some overlap; a fact may rule one out.
func rivals(draw source) *solver.Problem {
	p := &solver.Problem{}
	demands, slots := 2+draw(3), 1+draw(3)
	first := p.NewVars(demands * slots)
	at := func(i, j int) solver.Var { return first + solver.Var(i*slots+j) }
	for i := range demands {
		var lits []solver.Lit
		for j := range slots {
			lits = append(lits, at(i, j).Yes())
		}
		if draw(10) == 0 {
			lits = append(lits, at(draw(demands), draw(slots)).Yes())
		}
		if draw(10) == 0 {
			lits = append(lits, at(draw(demands), draw(slots)).No())
		}
		p.Any(lits, nil)
	}
	for j := range slots {
		var vars []solver.Var
		for i := range demands {
			if draw(12) > 0 {
				vars = append(vars, at(i, j))
			}
		}
		p.Limit(1+draw(6)/5, vars, nil)
	}
	for range draw(3) {
		p.Limit(1+draw(2), []solver.Var{at(draw(demands), draw(slots)), at(draw(demands), draw(slots)), at(draw(demands), draw(slots))}, nil)
	}
	if draw(4) == 0 {
		p.Forbid(at(draw(demands), draw(slots)), nil)
	}
	return p
}

// TestCounting checks what counting refutes beside brute force, and the proofs
// of it, also damaged ones.
func TestCounting(t *testing.T) {
	ctx := context.Background()
	refuted, refused := 0, 0
	for seed := range uint64(long.N(20_000, 300_000)) {
		draw := randomly(rand.New(rand.NewPCG(seed, 31)))
		p := rivals(draw)
		r := solver.RefuteByCounting(p)
		if r == nil {
			continue
		}
		refuted++
		if possible(p, func(int) bool { return true }) {
			t.Fatalf("it can be met\n%s", describe(p))
		}
		if err := solver.CheckRefutation(ctx, p, r); err != nil {
			t.Fatalf("%v\n%+v\n%s", err, r, describe(p))
		}
		core := r.Core()
		if possible(p, func(id int) bool { return slices.Contains(core, id) }) {
			t.Fatalf("the constraints that it names can be met: %v\n%s", core, describe(p))
		}
		at := slices.IndexFunc(r.Lemmas, func(m solver.Lemma) bool { return m.Counts })
		h := &r.Lemmas[at].Hints
		switch i := draw(len(*h)); draw(3) {
		case 0:
			*h = slices.Delete(*h, i, i+1)
		case 1:
			*h = append(*h, (*h)[i])
		default:
			(*h)[i] = draw(p.NumConstraints())
		}
		var wrong *solver.CertificateError
		switch err := solver.CheckRefutation(ctx, p, r); {
		case errors.As(err, &wrong):
			refused++
		case err != nil:
			t.Fatal(err)
		default: // it may still be right
			core := r.Core()
			if possible(p, func(id int) bool { return slices.Contains(core, id) }) {
				t.Fatalf("a damaged proof passes\n%+v\n%s", r, describe(p))
			}
		}
	}
	if refuted < 1000 || refused < 500 {
		t.Errorf("%d refuted, %d damaged proofs refused", refuted, refused)
	}
}

// TestPigeons solves what clauses alone cannot refute: forty operators that need
// one of 39 APIs each.
func TestPigeons(t *testing.T) {
	ctx := context.Background()
	p := pigeons(40, 39)
	_, err := solver.Solve(ctx, p, nil)
	var unsat *solver.UnsatError
	if !errors.As(err, &unsat) {
		t.Fatal(err)
	}
	core, minimal, err := unsat.Core(ctx, nil)
	if err != nil || !minimal || len(core) != 40+40+39 {
		t.Errorf("%d constraints, minimal %t, %v", len(core), minimal, err)
	}
	x, err := unsat.Explain(ctx, nil)
	if err != nil || len(x.Fixes) == 0 || len(x.Fixes[0].Drop) != 1 {
		t.Errorf("%d fixes, %v", len(x.Fixes), err)
	}
	r, err := p.Refute(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := solver.CheckRefutation(ctx, p, r); err != nil {
		t.Error(err)
	}
}
