package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/solver"
)

// web makes packages of random versions, each of which requires a range of
// versions of some others, and requires one package. Most such webs cannot be
// met, for reasons that hundreds of constraints are part of.
func web(packages, versions, requirements int, seed uint64) *solver.Problem {
	r := rand.New(rand.NewPCG(seed, 60))
	p := &solver.Problem{}
	all := make([][]solver.Var, packages) // newest first
	for i := range all {
		for v := range versions {
			all[i] = append(all[i], p.Var(fmt.Sprintf("w%d.v%d", i, versions-v)))
		}
		p.Limit(1, all[i], nil)
	}
	for i, own := range all {
		for _, v := range own {
			for range requirements {
				if on, from := r.IntN(packages), r.IntN(versions); on != i {
					p.Depend(v, all[on][from:min(versions, from+1+r.IntN(5))], nil)
				}
			}
		}
	}
	s := p.Var("subscription")
	p.Require(s, nil)
	p.Depend(s, all[0], nil)
	return p
}

// TestHardCore checks that a conflict of many constraints is found with any
// budget, the same each time, and is called minimal only if it is.
func TestHardCore(t *testing.T) {
	ctx := context.Background()
	minimal, marked := 0, 0
	for seed := range uint64(6) {
		p := web(14, 7, 3, seed)
		_, err := solver.Solve(ctx, p, nil)
		var unsat *solver.UnsatError
		if !errors.As(err, &unsat) {
			continue
		}
		for _, conflicts := range []int64{0, 1, 30, 300, 3_000, 30_000} {
			core, is, err := unsat.Core(ctx, solver.NewBudget(conflicts))
			again, _, _ := unsat.Core(ctx, solver.NewBudget(conflicts))
			if err != nil || fmt.Sprint(ids(core)) != fmt.Sprint(ids(again)) {
				t.Fatalf("seed %d, %d conflicts: %v, or not the same core again", seed, conflicts, err)
			}
			checkConflict(t, p, ids(core), is)
			if !is {
				marked++
			}
		}
		if _, is, _ := unsat.Core(ctx, solver.NewBudget(30_000)); is {
			minimal++
		}
		x, err := unsat.Explain(ctx, &solver.ExplainOptions{MaxLines: 12})
		if err != nil || strings.Count(x.String(), "\n") > 12 {
			t.Errorf("seed %d: %v\n%s", seed, err, x)
		}
	}
	if minimal < 3 || marked < 6 {
		t.Errorf("%d minimal cores, %d that are marked", minimal, marked)
	}
}

func ids(core []solver.Constraint) []int {
	all := make([]int, len(core))
	for i, c := range core {
		all[i] = c.ID
	}
	return all
}

// checkConflict checks that constraints conflict and, if they are minimal, that
// they do not without any one of them.
func checkConflict(t *testing.T, p *solver.Problem, core []int, minimal bool) {
	ctx := context.Background()
	r, err := p.Refute(ctx, core...)
	if err != nil {
		t.Fatal(err)
	}
	if err := solver.CheckRefutation(ctx, p, r); err != nil {
		t.Fatal(err)
	}
	for i := range core {
		if !minimal {
			break
		}
		rest := append(append([]int{}, core[:i]...), core[i+1:]...)
		if _, err := p.Refute(ctx, rest...); err == nil {
			t.Fatalf("a core of %d constraints is called minimal, but constraint %d is not needed", len(core), core[i])
		}
	}
}

// TestKnownWhenEnded ends explanations at all times: the verdict stands, what is
// returned conflicts, and nothing asks for more time.
func TestKnownWhenEnded(t *testing.T) {
	p := web(30, 10, 3, 2)
	_, err := solver.Solve(context.Background(), p, nil)
	var unsat *solver.UnsatError
	if !errors.As(err, &unsat) {
		t.Fatal(err)
	}
	known := 0
	for wait := time.Millisecond; wait < 300*time.Millisecond; wait = wait * 5 / 3 {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		x, err := unsat.Explain(ctx, nil)
		cancel()
		if err == nil {
			break
		}
		var incomplete *solver.IncompleteError
		if !errors.As(err, &incomplete) || incomplete.Known == "" || strings.Contains(err.Error(), "more time") {
			t.Fatalf("after %v: %v", wait, err)
		}
		for _, c := range x.Conflicts {
			known++
			checkConflict(t, p, ids(c.Core), false)
		}
	}
	if known == 0 {
		t.Skip("no explanation was ended between its beginning and its end")
	}
}

// TestOneTestRanOut: a core of which a single test was not decided is not called
// minimal, although much of the budget is left; some of those are not.
func TestOneTestRanOut(t *testing.T) {
	minimal, marked, needless := 0, 0, 0
	for seed := range uint64(40) {
		p := web(10, 5, 3, seed)
		if _, err := solver.Solve(context.Background(), p, nil); err == nil {
			continue
		}
		core, is, left := solver.Reduced(p, 2+int64(seed%2)*20, 1<<20)
		if !left {
			t.Fatalf("seed %d: the budget is used up", seed)
		}
		checkConflict(t, p, core, is)
		if is {
			minimal++
			continue
		}
		marked++
		for i := range core {
			rest := append(append([]int{}, core[:i]...), core[i+1:]...)
			if _, err := p.Refute(context.Background(), rest...); err == nil {
				needless++
				break
			}
		}
	}
	if minimal == 0 || marked == 0 || needless == 0 {
		t.Errorf("%d cores are minimal, %d are not known to be, and %d of those are not", minimal, marked, needless)
	}
}
