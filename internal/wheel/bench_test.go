package wheel_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/wheel"
)

// pods are the sizes of the benchmarks: a large cluster, and far beyond.
var pods = []int{10_000, 150_000, 1_000_000}

// fill returns n deadlines at random within an hour.
func fill(n int) (*wheel.Timers[uint32], []wheel.ID, *rand.Rand) {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	timers, ids := new(wheel.Timers[uint32]), make([]wheel.ID, n)
	for i := range ids {
		ids[i] = timers.Add(uint32(i), within(rnd))
	}
	return timers, ids, rnd
}

func within(rnd *rand.Rand) time.Time { return start.Add(time.Duration(rnd.Int64N(int64(time.Hour)))) }

// BenchmarkAdd adds n deadlines to none; a figure is one of them.
func BenchmarkAdd(b *testing.B) {
	for _, n := range pods {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(1, uint64(n)))
			at := make([]time.Time, n)
			for i := range at {
				at[i] = within(rnd)
			}
			for b.Loop() {
				var timers wheel.Timers[uint32]
				for i, at := range at {
					timers.Add(uint32(i), at)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/add")
		})
	}
}

// BenchmarkMove gives random ones of n deadlines another random instant.
func BenchmarkMove(b *testing.B) {
	for _, n := range pods {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			timers, ids, rnd := fill(n)
			b.ReportAllocs()
			for b.Loop() {
				timers.Move(ids[rnd.IntN(n)], within(rnd))
			}
		})
	}
}

// BenchmarkCancelAdd cancels random ones of n deadlines, and adds each again: a
// figure is both.
func BenchmarkCancelAdd(b *testing.B) {
	for _, n := range pods {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			timers, ids, rnd := fill(n)
			b.ReportAllocs()
			for b.Loop() {
				i := rnd.IntN(n)
				timers.Cancel(ids[i])
				ids[i] = timers.Add(uint32(i), within(rnd))
			}
		})
	}
}

// BenchmarkPop takes the first of n deadlines, and adds one an hour later.
func BenchmarkPop(b *testing.B) {
	for _, n := range pods {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			timers, _, _ := fill(n)
			for b.Loop() {
				next, _ := timers.Next()
				id, _ := timers.Pop(next)
				timers.Add(id, next.Add(time.Hour))
			}
		})
	}
}

// BenchmarkMemory reports the bytes that a pending deadline takes, of which
// four are the identity: when it was added, and after each was moved twice.
func BenchmarkMemory(b *testing.B) {
	const n = 1_000_000
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	for b.Loop() {
		before := heap()
		timers, ids, rnd := fill(n)
		added := heap()
		for range 2 * n {
			timers.Move(ids[rnd.IntN(n)], within(rnd))
		}
		moved := heap()
		runtime.KeepAlive(timers)
		runtime.KeepAlive(ids)
		const handles = 8 // bytes of ids, which are the caller's
		b.ReportMetric((added-before)/n-handles, "B/added")
		b.ReportMetric((moved-before)/n-handles, "B/moved")
	}
}
