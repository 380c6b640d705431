package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/solver"
)

// This file contains the oracle, which implements the documentation of Solve by
// trying all selections, and the random problems it is asked about.

// A rule is a constraint on bit sets (bit 0 is variable 1): a set must contain
// one of yes or lack one of no; for a limitation, it must contain at most n of
// yes.
type rule struct {
	yes, no    uint32
	limitation bool
	n          int
}

func rules(p *solver.Problem) []rule {
	all := make([]rule, p.NumConstraints())
	for id := range all {
		c := p.Constraint(id)
		all[id] = rule{limitation: c.Kind == solver.Limitation, n: c.N}
		for _, l := range c.Lits {
			if l.Selects() {
				all[id].yes |= 1 << (l.Var() - 1)
			} else {
				all[id].no |= 1 << (l.Var() - 1)
			}
		}
	}
	return all
}

func (r *rule) meets(set uint32) bool {
	if r.limitation {
		return bits.OnesCount32(set&r.yes) <= r.n
	}
	return set&r.yes|^set&r.no != 0
}

// allowed returns all selections that meet the constraints for which keep
// returns true.
func allowed(p *solver.Problem, keep func(id int) bool) []uint32 {
	return search(p, keep, 1<<20)
}

// possible reports whether there is such a selection.
func possible(p *solver.Problem, keep func(id int) bool) bool {
	return len(search(p, keep, 1)) > 0
}

func search(p *solver.Problem, keep func(id int) bool, most int) []uint32 {
	var kept []rule
	for id, r := range rules(p) {
		if keep(id) {
			kept = append(kept, r)
		}
	}
	var sets []uint32
	for set := uint32(0); set < 1<<p.NumVars() && len(sets) < most; set++ {
		ok := true
		for i := range kept {
			if ok = kept[i].meets(set); !ok {
				kept[0], kept[i] = kept[i], kept[0] // it is likely to refuse the next set as well
				break
			}
		}
		if ok {
			sets = append(sets, set)
		}
	}
	return sets
}

// best applies the documented rule, using nothing but the list of all allowed
// selections.
func best(p *solver.Problem, sets []uint32) uint32 {
	var picked uint32
	var queue []solver.Constraint
	enqueue := func(v solver.Var) {
		for id := range p.NumConstraints() {
			c := p.Constraint(id)
			if c.Kind == solver.Limitation {
				continue
			}
			triggered, denies, selects := true, false, false
			for _, l := range c.Lits {
				selects = selects || l.Selects()
				if !l.Selects() {
					denies = denies || l.Var() == v
					triggered = triggered && picked>>(l.Var()-1)&1 == 1
				}
			}
			if triggered && selects && (v == 0) == !denies && (v == 0 || denies) {
				queue = append(queue, c)
			}
		}
	}
	enqueue(0)
	for ; len(queue) > 0; queue = queue[1:] {
		met := false
		for _, l := range queue[0].Lits {
			met = met || l.Selects() && picked>>(l.Var()-1)&1 == 1
		}
		if met {
			continue
		}
		for _, l := range queue[0].Lits {
			if !l.Selects() {
				continue
			}
			with := picked | 1<<(l.Var()-1)
			if slices.ContainsFunc(sets, func(s uint32) bool { return s&with == with }) {
				picked = with
				enqueue(l.Var())
				break
			}
		}
	}
	return picked
}

// A source provides the choices from which a problem is built: random numbers,
// or the bytes of a fuzzer.
type source func(n int) int

func randomly(r *rand.Rand) source { return r.IntN }

// build makes a problem of up to maxVars variables with all kinds of
// constraints.
func build(draw source, maxVars int) *solver.Problem {
	p := &solver.Problem{}
	n := 1 + draw(maxVars)
	for i := range n {
		p.Var(string(rune('a' + i)))
	}
	some := func() solver.Var { return solver.Var(1 + draw(n)) }
	list := func(k int) []solver.Var {
		vars := make([]solver.Var, draw(k))
		for i := range vars {
			vars[i] = some()
		}
		return vars
	}
	for range draw(3 * n) {
		switch k := draw(20); {
		case k < 3:
			p.Require(some(), nil)
		case k < 4:
			p.Forbid(some(), nil)
		case k < 11:
			p.Depend(some(), list(5), nil)
		case k < 14:
			p.Exclude(some(), some(), nil)
		case k < 17:
			p.Limit(draw(4), list(9), nil)
		default:
			lits := make([]solver.Lit, draw(5))
			for i := range lits {
				lits[i] = some().Yes()
				if draw(2) == 0 {
					lits[i] = some().No()
				}
			}
			p.Any(lits, nil)
		}
	}
	return p
}

func describe(p *solver.Problem) string {
	var out strings.Builder
	for id := range p.NumConstraints() {
		c := p.Constraint(id)
		fmt.Fprintf(&out, "%d %s: %s\n", id, c.Kind, c.Demand())
	}
	return out.String()
}

// compare solves p and compares the outcome with the oracle.
func compare(t testing.TB, draw source, p *solver.Problem) {
	all := func(int) bool { return true }
	sets := allowed(p, all)
	s, err := solver.Solve(context.Background(), p, nil)
	blind, blindErr := solver.SolveByTrials(context.Background(), p, new(int))
	if got, want := outcome(t, p, blind, blindErr), outcome(t, p, s, err); got != want {
		t.Fatalf("with all work left to the SAT engine: %s, else %s\n%s", got, want, describe(p))
	}
	if len(sets) == 0 {
		var unsat *solver.UnsatError
		if !errors.As(err, &unsat) {
			t.Fatalf("no selection is allowed, got error %v\n%s", err, describe(p))
		}
		compareCore(t, p, unsat)
		if p.NumVars() <= 6 {
			compareExplanation(t, p, unsat)
		}
		return
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, describe(p))
	}
	var got uint32
	for v := range s.Selected() {
		got |= 1 << (v - 1)
	}
	if want := best(p, sets); got != want {
		t.Fatalf("got %b, want %b\n%s", got, want, describe(p))
	}
	compareCertificate(t, draw, p, s, sets)
}

// compareCore checks that the core cannot be met, that it can be met without
// any one of its constraints, and that refutations are valid.
func compareCore(t testing.TB, p *solver.Problem, unsat *solver.UnsatError) {
	core, minimal, err := unsat.Core(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	in := make(map[int]bool)
	for _, c := range core {
		in[c.ID] = true
	}
	if !minimal {
		t.Fatalf("the core %v of a small problem is not minimal\n%s", core, describe(p))
	}
	if possible(p, func(id int) bool { return in[id] }) {
		t.Fatalf("the core %v can be met\n%s", core, describe(p))
	}
	var ids []int
	for _, c := range core {
		if !possible(p, func(id int) bool { return in[id] && id != c.ID }) {
			t.Fatalf("the core %v does not need %v\n%s", core, c, describe(p))
		}
		ids = append(ids, c.ID)
	}
	ctx := context.Background()
	for _, of := range [][]int{nil, ids} {
		r, err := p.Refute(ctx, of...)
		if err != nil {
			t.Fatalf("%v\n%s", err, describe(p))
		}
		if err := solver.CheckRefutation(ctx, p, r); err != nil {
			t.Fatalf("%v\n%s", err, describe(p))
		}
		if of != nil && !slices.Equal(r.Core(), ids) {
			t.Fatalf("the proof needs %v of the minimal core %v\n%s", r.Core(), ids, describe(p))
		}
	}
	if r, err := p.Refute(ctx, ids[1:]...); len(ids) > 1 && err == nil {
		t.Fatalf("a part of a minimal core refuted: %v\n%s", r, describe(p))
	}
}

// compareExplanation checks that the conflicts share no constraint, and that
// the fixes are the cheapest.
func compareExplanation(t testing.TB, p *solver.Problem, unsat *solver.UnsatError) {
	x, err := unsat.Explain(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkExplanation(t, x, 25)
	in := make(map[int]bool)
	for _, c := range x.Conflicts {
		for _, k := range c.Core {
			if in[k.ID] {
				t.Fatalf("constraint %d is in two conflicts\n%s", k.ID, describe(p))
			}
			in[k.ID] = true
		}
	}
	if !possible(p, func(id int) bool { return !in[id] }) {
		t.Fatalf("a conflict is missing\n%s\n%s", x, describe(p))
	}
	compareFixes(t, p, x.Fixes)
}

func compareFixes(t testing.TB, p *solver.Problem, fixes []solver.Fix) {
	var changeable []int
	effort := make(map[int]int)
	for id := range p.NumConstraints() {
		c := p.Constraint(id)
		positive := true
		for _, l := range c.Lits {
			positive = positive && l.Selects()
		}
		switch {
		case c.Kind == solver.Prohibition:
			effort[id] = 10
		case c.Kind == solver.Requirement || c.Kind == solver.Clause && positive:
			effort[id] = 20
		default:
			continue
		}
		changeable = append(changeable, id)
	}
	if len(changeable) > 6 {
		return
	}
	var efforts []int // of all minimal sets that help
	var helpful []uint32
	for drop := range uint32(1 << len(changeable)) {
		dropped := make(map[int]bool)
		sum := 0
		for i, id := range changeable {
			if drop>>i&1 == 1 {
				dropped[id] = true
				sum += effort[id]
			}
		}
		if slices.ContainsFunc(helpful, func(h uint32) bool { return h&drop == h }) {
			continue
		}
		if possible(p, func(id int) bool { return !dropped[id] }) {
			helpful = append(helpful, drop)
			efforts = append(efforts, sum)
		}
	}
	slices.Sort(efforts)
	var got []int
	for _, f := range fixes {
		got = append(got, f.Effort)
	}
	if want := efforts[:min(3, len(efforts))]; !slices.Equal(got, want) {
		t.Fatalf("fixes with efforts %v, want %v\n%s", got, want, describe(p))
	}
}

// tangle makes a problem of choices that exclude each other, in which only
// trying shows what is possible.
func tangle(draw source, maxVars int) *solver.Problem {
	p := &solver.Problem{}
	n := 6 + draw(maxVars-5)
	for i := range n {
		p.Var(string(rune('a' + i)))
	}
	some := func() solver.Var { return solver.Var(1 + draw(n)) }
	for range n/2 + draw(n/2) {
		lits := make([]solver.Lit, 2+draw(2))
		for i := range lits {
			lits[i] = some().Yes()
		}
		if draw(3) == 0 {
			lits[0] = some().No()
		}
		p.Any(lits, nil)
	}
	for range n/2 + draw(n) {
		switch draw(6) {
		case 0:
			p.Limit(1+draw(2), []solver.Var{some(), some(), some(), some()}, nil)
		case 1:
			p.Any([]solver.Lit{some().No(), some().No(), some().No()}, nil)
		default:
			p.Exclude(some(), some(), nil)
		}
	}
	return p
}

// TestRandomAgainstBruteForce compares Solve with the oracle on random problems
// of up to 14 variables: whether there is an answer and which, whether the
// certificate is valid, whether the core is a minimal contradiction, and
// whether the fixes are the cheapest.
func TestRandomAgainstBruteForce(t *testing.T) {
	for seed := range uint64(long.N(3_500, 1_000_000)) {
		make := build
		if seed%2 == 0 {
			make = tangle
		}
		draw := randomly(rand.New(rand.NewPCG(seed, 1)))
		compare(t, draw, make(draw, 14))
	}
}
