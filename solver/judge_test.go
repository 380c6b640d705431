package solver_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// TestJudgeLooksAtEnough has random selections judged, right and wrong ones,
// under constraints with and without sets: even if it looks only at what they
// touch, the judge must agree with the oracle.
func TestJudgeLooksAtEnough(t *testing.T) {
	good, bad := 0, 0
	for seed := range uint64(20_000) {
		draw := randomly(rand.New(rand.NewPCG(seed, 11)))
		p := build(draw, 6)
		some := func() solver.Var { return solver.Var(1 + draw(p.NumVars())) }
		for range draw(3) {
			set := p.Set([]solver.Var{some(), some(), some()})
			p.DependOn(some(), set, nil)
			p.LimitOf(1+draw(2), set, nil)
		}
		var picks []solver.Var
		var selected uint32
		for v := solver.Var(1); int(v) <= p.NumVars(); v++ {
			if draw(2) == 0 {
				picks = append(picks, v)
				selected |= 1 << (v - 1)
			}
		}
		want := !slices.ContainsFunc(rules(p), func(r rule) bool { return !r.meets(selected) })
		for _, touched := range []bool{false, true} {
			if got := solver.Broken(p, picks, touched); (got == "") != want {
				t.Fatalf("seed %d: %v: the judge says %q, the oracle %t\n%s", seed, picks, got, want, describe(p))
			}
		}
		if want {
			good++
		} else {
			bad++
		}
	}
	if good < 1000 || bad < 1000 {
		t.Errorf("%d right and %d wrong ones are few", good, bad)
	}
}

// TestSetsRefuted verifies hints that name constraints on sets.
func TestSetsRefuted(t *testing.T) {
	p := &solver.Problem{}
	v := p.NewVars(3)
	set := p.Set([]solver.Var{v + 1, v + 2})
	p.DependOn(v, set, nil) // 0
	p.Forbid(v, nil)        // 1
	p.Forbid(v+1, nil)      // 2
	p.Forbid(v+2, nil)      // 3
	p.Require(v, nil)       // 4
	for _, test := range []struct {
		hints []int
		want  string
	}{
		{[]int{1, 4}, ""},
		{[]int{2, 3, 4, 0}, ""},
		{[]int{2, 3, 0, 4}, ""},
		{[]int{1, 2, 3, 0}, "the hints do not lead"},
		{[]int{2, 0, 3}, "the hints do not lead"},
	} {
		err := solver.CheckRefutation(context.Background(), p, &solver.Refutation{Lemmas: []solver.Lemma{{Hints: test.hints}}})
		var wrong *solver.CertificateError
		if test.want == "" && err != nil || test.want != "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v: got %v, want %s", test.hints, err, test.want)
		}
	}
}
