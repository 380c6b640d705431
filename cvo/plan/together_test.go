package plan_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/internal/long"
)

// drawTogether makes a world of operators that require much of each other.
func drawTogether(r *rand.Rand) *world {
	w := &world{Releases: []string{"4.18.1", "4.19.1"}, Edges: []worldEdge{{From: 0, To: 1}}, Stay: r.IntN(2) == 0}
	count := 2 + r.IntN(2)
	for i := range count {
		o := worldOperator{Name: fmt.Sprint("op", i), Goal: -1}
		n := 2 + r.IntN(3)
		for k := range n {
			o.Max, o.Min, o.Uses = append(o.Max, []int{0, 0, 18}[r.IntN(3)]), append(o.Min, 0), append(o.Uses, false)
			for j := range k {
				if j == k-1 || r.IntN(4) == 0 {
					o.Hops = append(o.Hops, worldHop{j, k, []int{0, 0, 0, 18, 19}[r.IntN(5)]})
				}
			}
			var needs []worldNeed
			for range r.IntN(3) {
				if op := r.IntN(count); r.IntN(4) == 0 {
					needs = append(needs, worldNeed{API: []string{"x", "y"}[r.IntN(2)]})
				} else if op != i {
					lo := max(0, k-1+r.IntN(3)-r.IntN(2))
					needs = append(needs, worldNeed{Op: op, Lo: lo, Top: lo + r.IntN(2)})
				}
			}
			var gives []string
			for _, api := range []string{"x", "y"} {
				if r.IntN(2) == 0 {
					gives = append(gives, api)
				}
			}
			o.Needs, o.Gives = append(o.Needs, needs), append(o.Gives, gives)
		}
		if r.IntN(3) > 0 {
			o.Goal = n - 1 - r.IntN(2)
		}
		w.Ops = append(w.Ops, o)
	}
	return w
}

// Plans for operators that require something of each other are as good as the best of
// all orders, and their hops can be taken as they stand. One that is made again after
// each hop is what is left of the first.
func TestTogether(t *testing.T) {
	planned, joint, again := 0, 0, 0
	for seed := range uint64(long.N(300, 20_000)) {
		w := drawTogether(rand.New(rand.NewPCG(23, seed)))
		s, goal, policy := w.situation()
		want, ok := w.brute()
		p, err := plan.Make(t.Context(), s, goal, policy)
		var no *plan.NoPlanError
		if err != nil && !errors.As(err, &no) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if ok != (err == nil) {
			t.Fatalf("seed %d: brute force finds a plan: %v; %v\n%+v", seed, ok, err, w)
		}
		if !ok {
			continue
		}
		planned++
		if got := (price{p.Cost.Unknown, p.Cost.Steps, p.Cost.Restarts}); got != want {
			t.Fatalf("seed %d: the plan costs %+v, and the best %+v\n%v%+v", seed, got, want, p, w)
		}
		if err := w.walk(p); err != nil {
			t.Fatalf("seed %d: %v\n%v%+v", seed, err, p, w)
		}
		for i, x := range p.Steps {
			if len(x.With) > 0 {
				joint++
			}
			if !w.Stay {
				continue
			}
			each(s.Operators, func(o *plan.Operator) {
				if o.Package == x.Subject {
					o.Installed = x.To
				}
			})
			if i+1 < len(p.Steps) && slices.Contains(x.With, p.Steps[i+1].To) {
				continue // of the same install plan
			}
			if rest, err := plan.Make(t.Context(), s, goal, policy); err != nil || rest.Cost.Steps != len(p.Steps)-i-1 {
				t.Fatalf("seed %d: after %s: %v, %v\n%v%+v", seed, x, rest, err, p, w)
			}
			again++
		}
	}
	t.Logf("%d have a plan, %d hops go together, %d are planned again", planned, joint, again)
	if planned < 50 || joint < 5 || again < 20 {
		t.Errorf("%d have a plan, %d hops go together, %d are planned again", planned, joint, again)
	}
}
