//go:build unix

package catalog_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/long"
)

// gaps is a context that records the most processor time for which nobody asks whether it has
// ended, and where.
type gaps struct {
	context.Context
	mu       sync.Mutex
	last     time.Duration
	place    string
	longest  time.Duration
	from, to string
}

func newGaps(ctx context.Context) *gaps {
	return &gaps{Context: ctx, last: processorTime(), place: "the start"}
}

func (g *gaps) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, place := processorTime(), caller()
	if d := now - g.last; d > g.longest {
		g.longest, g.from, g.to = d, g.place, place
	}
	g.last, g.place = processorTime(), place
	return g.Context.Err()
}

// processorTime returns how long the process has computed.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it has no other arguments
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// caller names the functions that asked, the innermost first.
func caller() string {
	var pcs [6]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	var names []string
	for f, more := frames.Next(); more; f, more = frames.Next() {
		names = append(names, fmt.Sprintf("%s:%d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.Line))
	}
	return strings.Join(names, " < ")
}

// BenchmarkEnded measures how long work at the largest of the sizes goes on after its context has
// ended, at most: the processor time without a look at the context, in milliseconds.
func BenchmarkEnded(b *testing.B) {
	for _, shape := range slices.Sorted(maps.Keys(hardCatalogs)) {
		sizes := hardSizes[shape]
		text := hardCatalogs[shape](sizes[len(sizes)-1])
		before, after := openText(b, text.before), openText(b, text.after)
		for _, work := range slices.Sorted(maps.Keys(hardWork)) {
			b.Run(fmt.Sprintf("%s/%d %s", work, sizes[len(sizes)-1], shape), func(b *testing.B) {
				shortest := time.Hour // of several runs: other programs make it longer
				for b.Loop() {
					g := longestGap(b, work, before, after, text)
					if g.longest < shortest {
						shortest = g.longest
						b.Logf("%v from %s\n\tto %s", g.longest, g.from, g.to)
					}
				}
				b.ReportMetric(float64(shortest.Microseconds())/1000, "late-ms")
			})
		}
	}
}

func longestGap(t testing.TB, work string, before, after *catalog.Catalog, text hard) *gaps {
	t.Helper()
	before, after = catalogAgain(t, before), catalogAgain(t, after)
	runtime.GC()
	g := newGaps(t.Context())
	if err := hardWork[work](g, before, after, text); err != nil {
		t.Fatal(err)
	}
	_ = g.Err()
	return g
}

// TestEndsInTime: whatever is done with a catalog of the sizes that are promised returns within
// 100 ms of processor time after its context has ended, wherever it is by then. A short run is
// of smaller ones, because other tests may run beside it.
func TestEndsInTime(t *testing.T) {
	const most, runs = 100 * time.Millisecond, 10 // other programs make a run longer, and garbage is collected at some time
	for _, shape := range slices.Sorted(maps.Keys(hardCatalogs)) {
		sizes := hardSizes[shape]
		text := hardCatalogs[shape](sizes[long.N(0, len(sizes)-1)])
		before, after := openText(t, text.before), openText(t, text.after)
		for _, work := range slices.Sorted(maps.Keys(hardWork)) {
			g := longestGap(t, work, before, after, text)
			for run := 1; run < runs && g.longest > most; run++ {
				if again := longestGap(t, work, before, after, text); again.longest < g.longest {
					g = again
				}
			}
			if g.longest > most {
				t.Errorf("%s of %s: %v without a look at the context, from %s\n\tto %s", work, shape, g.longest, g.from, g.to)
			} else {
				t.Logf("%s of %s: at most %v", work, shape, g.longest)
			}
		}
	}
}
