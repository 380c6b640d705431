package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// criteria draws up to three criteria.
func criteria(draw source, p *solver.Problem) []solver.Criterion {
	all := make([]solver.Criterion, draw(4))
	for i := range all {
		all[i].Name = fmt.Sprint(i)
		for range draw(9) {
			v := solver.Var(1 + draw(p.NumVars()))
			t := solver.Term{Lit: v.Yes(), Weight: 1}
			if draw(2) == 0 {
				t.Lit = v.No()
			}
			if draw(3) == 0 {
				t.Weight = int64(draw(6))
			}
			all[i].Terms = append(all[i].Terms, t)
		}
	}
	return all
}

func costs(criteria []solver.Criterion, set uint32) []int64 {
	all := make([]int64, len(criteria))
	for i, k := range criteria {
		for _, t := range k.Terms {
			if set>>(t.Lit.Var()-1)&1 == 1 == t.Lit.Selects() {
				all[i] += t.Weight
			}
		}
	}
	return all
}

// compareOptimum compares an optimum with what trying all selections finds:
// the costs, and the choice by the rule.
func compareOptimum(t *testing.T, draw source, p *solver.Problem, criteria []solver.Criterion) {
	got, err := solver.Minimize(context.Background(), p, criteria, nil)
	sets := allowed(p, func(int) bool { return true })
	var unsat *solver.UnsatError
	if len(sets) == 0 {
		if !errors.As(err, &unsat) {
			t.Fatalf("no selection is allowed, got %v\n%s", err, describe(p))
		}
		return
	}
	if err != nil {
		t.Fatalf("%v\n%+v\n%s", err, criteria, describe(p))
	}
	least := costs(criteria, sets[0])
	for _, set := range sets {
		if c := costs(criteria, set); slices.Compare(c, least) < 0 {
			least = c
		}
	}
	if !slices.Equal(got.Costs, least) || !slices.Equal(got.Bounds, least) {
		t.Fatalf("costs %v, bounds %v, want %v\n%+v\n%s", got.Costs, got.Bounds, least, criteria, describe(p))
	}
	compareOptimumCertificate(t, draw, p, criteria, got)
	q := got.Solution.Whole()
	if q.NumVars() > 18 {
		return
	}
	optimal := slices.DeleteFunc(allowed(q, func(int) bool { return true }), func(set uint32) bool {
		return !slices.Equal(costs(criteria, set), least)
	})
	var picked uint32
	for v := range got.Solution.Selected() {
		picked |= 1 << (v - 1)
	}
	if want := best(q, optimal) & (1<<p.NumVars() - 1); picked != want {
		t.Fatalf("got %b, want %b\n%+v\n%s", picked, want, criteria, describe(q))
	}
}

func TestMinimizeAgainstBruteForce(t *testing.T) {
	for seed := range uint64(long.N(1_500, 300_000)) {
		draw := randomly(rand.New(rand.NewPCG(seed, 9)))
		make := build
		if seed%2 == 0 {
			make = tangle
		}
		p := make(draw, 11)
		compareOptimum(t, draw, p, criteria(draw, p))
	}
}

func TestMinimizeRefuses(t *testing.T) {
	p := parse(t, "require a\na needs b c")
	for _, term := range []solver.Term{{Lit: 9, Weight: 1}, {Lit: 0, Weight: 1}, {Lit: -2147483648}, {Lit: 1, Weight: -1}} {
		_, err := solver.Minimize(context.Background(), p, []solver.Criterion{{Terms: []solver.Term{term}}}, nil)
		var malformed *solver.ProblemError
		if !errors.As(err, &malformed) || len(malformed.Flaws) != 1 {
			t.Errorf("%v: got %v", term, err)
		}
	}
}
