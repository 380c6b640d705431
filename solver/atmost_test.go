package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/solver"
)

func TestAtMost(t *testing.T) {
	networks := 0
	for size := 1; size <= 9; size++ {
		for n := range size + 1 {
			allowed, _ := solver.AtMost(n, size)
			for set := range uint64(1) << size {
				if got, want := allowed(set), bits.OnesCount64(set) <= n; got != want {
					t.Fatalf("at most %d of %d: %b allowed %t", n, size, set, got)
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, size := range []int{12, 17, 32, 41, 60} {
		for n := 2; n < size; n += 1 + size/9 {
			allowed, network := solver.AtMost(n, size)
			if network {
				networks++
			}
			for range 60 {
				want := n + r.IntN(2) // on both sides of the limit
				set := uint64(0)
				for _, i := range r.Perm(size)[:want] {
					set |= 1 << i
				}
				if got := allowed(set); got != (want <= n) {
					t.Fatalf("at most %d of %d: %d allowed %t", n, size, want, got)
				}
			}
		}
	}
	if networks < 10 {
		t.Errorf("only %d networks", networks)
	}
}

// TestLargeLimit has a limit that is too large for a counter, and a dead end
// that takes a search.
func TestLargeLimit(t *testing.T) {
	const size, n = 4000, 1999
	p := &solver.Problem{}
	var all []solver.Var
	for i := range size {
		all = append(all, p.Var(fmt.Sprintf("v%d", i)))
	}
	p.Limit(n, all, nil)
	for i := 0; i < size; i += 2 {
		p.Any([]solver.Lit{all[i].Yes(), all[i+1].Yes()}, nil)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := solver.Solve(ctx, p, nil)
	var unsat *solver.UnsatError
	var incomplete *solver.IncompleteError
	if !errors.As(err, &unsat) && !errors.As(err, &incomplete) {
		t.Fatalf("got %v: there are %d pairs, and %d may be selected", err, size/2, n)
	}
	deadline, _ := ctx.Deadline()
	t.Logf("%T, %v after the deadline", err, time.Since(deadline))
}
