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

// TestSharedBudget: all calls that are given a Budget take their conflicts out of it,
// each at most MaxConflicts; when none are left, a call that needs some is not done.
func TestSharedBudget(t *testing.T) {
	ctx := context.Background()
	p := crowd(8, 7)
	session, err := solver.NewSession(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := solver.NewBudget(50)
	for _, call := range []struct {
		name string
		most int64 // conflicts: one more than allowed may end the last attempt of a run
		do   func(o *solver.Options) error
	}{
		{"Solve", 8, func(o *solver.Options) error { _, err := solver.Solve(ctx, p, o); return err }},
		{"Minimize", 8, func(o *solver.Options) error { _, err := solver.Minimize(ctx, p, everything(p), o); return err }},
		{"Lazy.Solve", 30, func(o *solver.Options) error {
			_, err := solver.NewLazy(holes{8, 7}).Solve(ctx, holes{8, 7}.needs(), &solver.LazyOptions{Options: *o})
			return err
		}},
	} {
		left := b.Left()
		err := call.do(&solver.Options{Budget: b, MaxConflicts: 7})
		var incomplete *solver.IncompleteError
		if spent := left - b.Left(); !errors.As(err, &incomplete) || incomplete.Err != nil || spent < 7 || spent > call.most {
			t.Errorf("%s: %v, and %d conflicts are left of %d", call.name, err, b.Left(), left)
		}
	}
	if _, err := solver.Solve(ctx, p, &solver.Options{Budget: b}); err == nil || b.Left() != 0 {
		t.Errorf("%v, and %d conflicts are left", err, b.Left())
	}
	if _, err := solver.Solve(ctx, p, &solver.Options{Budget: b, MaxConflicts: 1 << 40}); !errors.As(err, new(*solver.IncompleteError)) {
		t.Errorf("with a budget that is used up: %v", err)
	}
	if _, err := session.Solve(ctx, nil); !errors.As(err, new(*solver.UnsatError)) {
		t.Errorf("without a budget: %v", err)
	}
}

// holes is a source like crowd.
type holes struct{ pigeons, holes int }

func (h holes) needs() []string {
	var all []string
	for i := range h.pigeons {
		all = append(all, fmt.Sprintf("pigeon %d", i))
	}
	return all
}

func (h holes) Candidates(_ context.Context, needs []string) ([][]solver.Candidate, error) {
	all := make([][]solver.Candidate, len(needs))
	for i, n := range needs {
		if strings.HasPrefix(n, "hole") { // whoever is in it
			for _, pigeon := range h.needs() {
				all[i] = append(all[i], solver.Candidate{Name: pigeon + " in " + n, Slot: pigeon})
			}
			continue
		}
		for k := range h.holes {
			all[i] = append(all[i], solver.Candidate{Name: fmt.Sprintf("%s in hole %d", n, k), Slot: n})
		}
	}
	return all, nil
}

func (h holes) Requirements(_ context.Context, candidates []string) ([]solver.Requirements, error) {
	all := make([]solver.Requirements, len(candidates))
	for i, c := range candidates {
		var pigeon, hole int
		if _, err := fmt.Sscanf(c, "pigeon %d in hole %d", &pigeon, &hole); err != nil {
			return nil, err
		}
		all[i].Excludes = []string{fmt.Sprintf("hole %d", hole)}
	}
	return all, nil
}

// TestExplainWithin explains with budgets of all sizes: half of each is for the
// conflicts, and every fix that is found has a selection.
func TestExplainWithin(t *testing.T) {
	ctx := context.Background()
	fixes := 0
	for seed := range uint64(3) {
		p := web(12, 6, 3, seed)
		_, err := solver.Solve(ctx, p, nil)
		var unsat *solver.UnsatError
		if !errors.As(err, &unsat) {
			continue
		}
		for conflicts := int64(1); conflicts < 20_000; conflicts = 1 + 2*conflicts {
			x, err := unsat.Explain(ctx, &solver.ExplainOptions{Budget: solver.NewBudget(conflicts), MaxConflicts: 1})
			if err != nil {
				t.Fatal(err)
			}
			core, minimal, err := unsat.Core(ctx, solver.NewBudget(conflicts-conflicts/2))
			if err != nil || fmt.Sprint(ids(x.Conflicts[0].Core)) != fmt.Sprint(ids(core)) || x.Conflicts[0].Minimal != minimal {
				t.Errorf("seed %d, %d conflicts: the conflict is not that of half the budget: %v", seed, conflicts, err)
			}
			if marked := strings.Contains(x.String(), "not all of them may matter"); marked == minimal {
				t.Errorf("seed %d, %d conflicts: minimal is %v, and it says:\n%s", seed, conflicts, minimal, x)
			}
			var asJSON strings.Builder
			if err := x.WriteJSON(&asJSON); err != nil || !strings.Contains(asJSON.String(), fmt.Sprintf(`"minimal": %v`, minimal)) {
				t.Errorf("seed %d, %d conflicts: %v, %s", seed, conflicts, err, asJSON.String())
			}
			for _, f := range x.Fixes {
				if fixes++; f.Solution == nil {
					t.Errorf("seed %d, %d conflicts: a fix without a selection", seed, conflicts)
				}
			}
		}
	}
	if fixes == 0 {
		t.Error("no fix was found")
	}
}

// TestOverlappingConflicts makes conflicts that share what can be dropped, with few
// different efforts, and compares the efforts of the fixes with those of all
// minimal sets to drop.
func TestOverlappingConflicts(t *testing.T) {
	several := 0
	for seed := range uint64(long.N(600, 100_000)) {
		r := rand.New(rand.NewPCG(seed, 8))
		n := 5 + r.IntN(4)
		p := &solver.Problem{}
		efforts := make([]int, n)
		for i := range n {
			efforts[i] = 1 + r.IntN(4)
			p.Require(p.Var(fmt.Sprint("v", i)), solver.Advised(fmt.Sprintf("v%d is wanted", i), fmt.Sprintf("drop v%d", i), efforts[i]))
		}
		var conflicts []uint
		for range 3 + r.IntN(6) {
			set := uint(0)
			var lits []solver.Lit
			for _, i := range r.Perm(n)[:2+r.IntN(3)] {
				set |= 1 << i
				lits = append(lits, solver.Var(i+1).No())
			}
			conflicts = append(conflicts, set)
			p.Any(lits, solver.Text("they do not go together"))
		}
		want := cheapest(efforts, conflicts)
		_, err := solver.Solve(context.Background(), p, nil)
		var unsat *solver.UnsatError
		if !errors.As(err, &unsat) {
			t.Fatal(err)
		}
		x, err := unsat.Explain(context.Background(), &solver.ExplainOptions{MaxFixes: 4})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, f := range x.Fixes {
			got = append(got, f.Effort)
		}
		if want = want[:min(4, len(want))]; !slices.Equal(got, want) {
			t.Fatalf("seed %d: fixes of efforts %v, not %v", seed, got, want)
		}
		if len(want) > 1 && len(x.Fixes[0].Drop) > 1 {
			several++
		}
	}
	if several < 100 {
		t.Errorf("only %d problems have several fixes of several things", several)
	}
}

// cheapest returns the efforts of all minimal sets that meet each conflict, ascending.
func cheapest(efforts []int, conflicts []uint) []int {
	meets := func(set uint) bool {
		return !slices.ContainsFunc(conflicts, func(c uint) bool { return c&set == 0 })
	}
	var all []int
sets:
	for set := uint(1); set < 1<<len(efforts); set++ {
		if !meets(set) {
			continue
		}
		sum := 0
		for left := set; left != 0; left &= left - 1 {
			i := bits.TrailingZeros(left)
			if meets(set &^ (1 << i)) {
				continue sets
			}
			sum += efforts[i]
		}
		all = append(all, sum)
	}
	slices.Sort(all)
	return all
}

// TestFixesMinimalOrMarked looks for fixes with budgets of all sizes: one that is
// marked minimal drops nothing that need not be; one that is not says so.
func TestFixesMinimalOrMarked(t *testing.T) {
	ctx := context.Background()
	marked, minimal := 0, 0
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 5))
		p := &solver.Problem{}
		n := 14 + r.IntN(6)
		p.NewVars(n)
		for range 5 * n {
			var lits []solver.Lit
			for range 3 {
				lits = append(lits, solver.Lit(1+r.IntN(n))*solver.Lit(1-2*r.IntN(2)))
			}
			p.Any(lits, solver.Advised("it is wanted", "drop it", 1+r.IntN(3)))
		}
		_, err := solver.Solve(ctx, p, nil)
		var unsat *solver.UnsatError
		if !errors.As(err, &unsat) {
			continue
		}
		for conflicts := int64(0); conflicts < 3_000; conflicts = 1 + 3*conflicts {
			b := solver.NewBudget(conflicts)
			x, err := unsat.Explain(ctx, &solver.ExplainOptions{Budget: b, MaxConflicts: 1})
			if err != nil {
				t.Fatal(err)
			}
			if over := b.Over(); over > int64(2*p.NumConstraints())+conflicts/10 { // each test costs one at least
				t.Errorf("seed %d: %d conflicts more than %d were spent", seed, over, conflicts)
			}
			for _, f := range x.Fixes {
				if !f.Minimal {
					marked++
					var asJSON strings.Builder
					if err := x.WriteJSON(&asJSON); err != nil || !strings.Contains(x.String(), "not all of this may be needed") || !strings.Contains(asJSON.String(), `"minimal": false`) {
						t.Errorf("seed %d, %d conflicts: not marked: %v\n%s", seed, conflicts, err, x)
					}
					continue
				}
				minimal++
				for _, kept := range f.Drop {
					w := &solver.WhatIf{}
					for _, c := range f.Drop {
						if c.ID != kept.ID {
							w.Drop = append(w.Drop, c.ID)
						}
					}
					if _, err := solver.Solve(ctx, changed(p, w), nil); err == nil {
						t.Fatalf("seed %d, %d conflicts: constraint %d need not be dropped: %v", seed, conflicts, kept.ID, ids(f.Drop))
					}
				}
			}
		}
	}
	if marked == 0 || minimal == 0 {
		t.Errorf("%d fixes are marked as not minimal, %d as minimal", marked, minimal)
	}
}

// TestBudgetOfSeveral takes conflicts out of one budget in several goroutines.
func TestBudgetOfSeveral(t *testing.T) {
	ctx := context.Background()
	b := solver.NewBudget(2_000)
	pool, err := solver.NewPool(crowd(7, 6), &solver.Options{Budget: b, MaxConflicts: 10})
	if err != nil {
		t.Fatal(err)
	}
	calls := make(chan error)
	for range 4 {
		go func() {
			for range 10 {
				_, err := pool.Solve(ctx, nil)
				calls <- err
			}
		}()
	}
	known := 0
	for range 40 {
		if err := <-calls; !errors.As(err, new(*solver.IncompleteError)) {
			known++ // a session that has learned that there is no answer
			if !errors.As(err, new(*solver.UnsatError)) {
				t.Error(err)
			}
		}
	}
	if spent := 2_000 - b.Left(); spent < 10 || spent > 40*10 {
		t.Errorf("%d conflicts were spent; %d calls ended with a proof", spent, known)
	}
}

// TestExplainTakesWhatItSpends: the half of the budget that is for the conflicts stays
// for what comes after if they are easy.
func TestExplainTakesWhatItSpends(t *testing.T) {
	b := solver.NewBudget(1_000)
	for range 5 {
		explain(t, parse(t, "require a\nrequire b\nexclude a b"), &solver.ExplainOptions{Budget: b})
	}
	if b.Left() < 900 {
		t.Errorf("five easy explanations left %d conflicts of 1000", b.Left())
	}
}
