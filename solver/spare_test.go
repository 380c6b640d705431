package solver_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/fairlead/fairlead/solver"
)

// TestGarbage checks that a problem that is no longer used is garbage at once:
// however rarely the collector runs, after one run nothing is left of earlier
// problems. Otherwise a process with a large GOGC would grow without bound.
func TestGarbage(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	runtime.GC()
	var before, made, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 200 {
		p := &solver.Problem{}
		var last []solver.Var
		for i := range 200 {
			next := []solver.Var{p.Var(fmt.Sprint("a", i)), p.Var(fmt.Sprint("b", i))}
			p.Limit(1, next, nil)
			for _, v := range last {
				p.Depend(v, next, nil)
			}
			last = next
		}
		pool, err := solver.NewPool(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := pool.Solve(t.Context(), &solver.WhatIf{Require: last[:1]}); err != nil {
				t.Fatal(err)
			}
			if _, err := solver.Solve(t.Context(), p, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	runtime.ReadMemStats(&made)
	runtime.GC()
	runtime.ReadMemStats(&after)
	all, left := made.TotalAlloc-before.TotalAlloc, int64(after.HeapAlloc)-int64(before.HeapAlloc)
	if left > int64(all/50) {
		t.Errorf("%d bytes of %d are left", left, all)
	}
}
