package deadlines_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/deadlines"
)

// TestOrder adds and pops deadlines at random, and compares with a sorted list.
func TestOrder(t *testing.T) {
	type deadline struct {
		id int
		at time.Time
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rnd := rand.New(rand.NewPCG(1, 1))
	var queue deadlines.Queue[int]
	var want []deadline
	for range 10_000 {
		now := start.Add(time.Duration(rnd.IntN(50)) * time.Second)
		if rnd.IntN(2) == 0 {
			d := deadline{rnd.IntN(20), now}
			queue.Add(d.id, d.at)
			want = append(want, d)
			slices.SortFunc(want, func(a, b deadline) int {
				return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
			})
			continue
		}
		next, some := queue.Next()
		if some != (len(want) > 0) || some && !next.Equal(want[0].at) {
			t.Fatalf("the next is at %v, %v; want %v", next, some, want)
		}
		id, ok := queue.Pop(now)
		if due := some && !want[0].at.After(now); ok != due || due && id != want[0].id {
			t.Fatalf("at %v got %d, %v; want %v", now, id, ok, want)
		}
		if ok {
			want = want[1:]
		}
	}
}
