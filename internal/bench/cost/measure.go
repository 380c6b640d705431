package cost

import (
	"cmp"
	"runtime"
	"slices"
	"time"
)

// Cost is what one run of something costs.
type Cost struct {
	Time   time.Duration // processor time
	Bytes  uint64        // allocated, whether or not freed again
	Allocs uint64        // allocations
}

// started is when the process began.
var started = time.Now()

// batch is the minimum time of one measurement.
const batch = 50 * time.Millisecond

// MeasureAll measures all runs in turn, round by round, so that other load on the
// machine affects all of them, and returns the median of each.
func MeasureAll(rounds int, runs ...func() error) ([]Cost, error) {
	costs := make([][]Cost, len(runs))
	for range rounds {
		for i, run := range runs {
			cost, err := Measure(run)
			if err != nil {
				return nil, err
			}
			costs[i] = append(costs[i], cost)
		}
	}
	medians := make([]Cost, len(runs))
	for i, all := range costs {
		slices.SortFunc(all, func(a, b Cost) int { return cmp.Compare(a.Time, b.Time) })
		medians[i] = all[len(all)/2]
	}
	return medians, nil
}

// Measure repeats run for the time of a batch, and returns the mean.
func Measure(run func() error) (Cost, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cpu := CPU()
	n := 0
	for n == 0 || CPU()-cpu < batch {
		if err := run(); err != nil {
			return Cost{}, err
		}
		n++
	}
	elapsed := CPU() - cpu
	runtime.ReadMemStats(&after)
	return Cost{
		Time:   elapsed / time.Duration(n),
		Bytes:  (after.TotalAlloc - before.TotalAlloc) / uint64(n),
		Allocs: (after.Mallocs - before.Mallocs) / uint64(n),
	}, nil
}
