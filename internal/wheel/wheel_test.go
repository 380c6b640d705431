package wheel_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/internal/wheel"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func Example() {
	var timers wheel.Timers[string]
	timers.Add("pod-b", start.Add(time.Minute))
	timers.Add("pod-a", start.Add(time.Minute))
	canceled := timers.Add("pod-c", start)
	moved := timers.Add("pod-d", start.Add(time.Hour))

	timers.Cancel(canceled)
	timers.Move(moved, start.Add(time.Second))
	for {
		next, ok := timers.Next()
		if !ok {
			break
		}
		id, _ := timers.Pop(next)
		fmt.Println(next.Format(time.TimeOnly), id)
	}
	// Output:
	// 12:00:01 pod-d
	// 12:01:00 pod-a
	// 12:01:00 pod-b
}

// Nothing is due before its instant, and a deadline is due at it.
func ExampleTimers_Pop() {
	var timers wheel.Timers[int]
	timers.Add(7, start)
	fmt.Println(timers.Pop(start.Add(-1)))
	fmt.Println(timers.Pop(start))
	fmt.Println(timers.Pop(start))
	// Output:
	// 0 false
	// 7 true
	// 0 false
}

// deadline is one line of the oracle: a list, sorted again for every question.
type deadline struct {
	id    int
	at    time.Time
	timer wheel.ID
}

// The heap against a sorted list, over random operations on few instants, so
// that ties are common.
func TestAgainstList(t *testing.T) {
	for seed := range uint64(long.N(100, 20_000)) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var timers wheel.Timers[int]
		var list []deadline
		var old []wheel.ID // no longer valid
		next := 0
		for range rnd.IntN(300) { // large enough to be built again at times
			at := start.Add(time.Duration(rnd.IntN(20)) * time.Second)
			next = (next + 7919) % 10007 // identities in no order
			list = append(list, deadline{next, at, timers.Add(next, at)})
		}
		for step := range 400 {
			at := start.Add(time.Duration(rnd.IntN(20)) * time.Second)
			i := 0
			if len(list) > 0 {
				i = rnd.IntN(len(list))
			}
			switch op := rnd.IntN(10); {
			case op < 2 || len(list) == 0:
				next = (next + 7919) % 10007
				list = append(list, deadline{next, at, timers.Add(next, at)})
			case op < 6:
				if list[i].at = at; !timers.Move(list[i].timer, at) {
					t.Fatalf("seed %d, step %d: Move of a pending deadline returned false", seed, step)
				}
			case op < 8:
				if !timers.Cancel(list[i].timer) {
					t.Fatalf("seed %d, step %d: Cancel of a pending deadline returned false", seed, step)
				}
				old = append(old, list[i].timer)
				list = slices.Delete(list, i, i+1)
			default:
				slices.SortFunc(list, func(a, b deadline) int { return cmp.Or(a.at.Compare(b.at), a.id-b.id) })
				id, ok := timers.Pop(at)
				if want := !list[0].at.After(at); ok != want || ok && id != list[0].id {
					t.Fatalf("seed %d, step %d: Pop(%v) is %v, %v, want %v, %v", seed, step, at, id, ok, list[0].id, want)
				}
				if ok {
					old = append(old, list[0].timer)
					list = list[1:]
				}
			}
			if step%8 == 0 {
				verify(t, &timers, list, old)
			}
		}
	}
}

// However often deadlines are moved and canceled, the heap stays in proportion
// to what is pending.
func TestBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 4))
	var timers wheel.Timers[int]
	ids := make([]wheel.ID, 1000)
	for i := range ids {
		ids[i] = timers.Add(i, start)
	}
	for i := range 20_000 {
		id := &ids[rnd.IntN(len(ids))]
		if i%3 == 0 {
			timers.Cancel(*id)
			*id = timers.Add(i, start)
		} else {
			timers.Move(*id, start.Add(time.Duration(rnd.IntN(3600))*time.Second))
		}
		if most := len(ids)*3/2 + 64; timers.Len() != len(ids) || timers.Entries() > most {
			t.Fatalf("after %d changes: %d pending, %d entries, want at most %d", i, timers.Len(), timers.Entries(), most)
		}
	}
}

func verify(t *testing.T, timers *wheel.Timers[int], list []deadline, old []wheel.ID) {
	t.Helper()
	if timers.Len() != len(list) {
		t.Fatalf("Len is %d, want %d", timers.Len(), len(list))
	}
	at, ok := timers.Next()
	if ok != (len(list) > 0) {
		t.Fatalf("Next returned %v with %d pending", ok, len(list))
	}
	if ok {
		first := slices.MinFunc(list, func(a, b deadline) int { return a.at.Compare(b.at) })
		if !at.Equal(first.at) {
			t.Fatalf("Next is %v, want %v", at, first.at)
		}
	}
	for _, d := range list {
		if at, ok := timers.At(d.timer); !ok || !at.Equal(d.at) {
			t.Fatalf("At is %v, %v, want %v", at, ok, d.at)
		}
	}
	for _, id := range old {
		if timers.Cancel(id) || timers.Move(id, start) {
			t.Fatal("an ID was valid after its deadline was gone")
		}
	}
}

// All of many are canceled, and the set is as new.
func TestCancelAll(t *testing.T) {
	var timers wheel.Timers[int]
	for range 3 {
		ids := make([]wheel.ID, 1000)
		for i := range ids {
			ids[i] = timers.Add(i, start)
		}
		for i, id := range ids {
			if !timers.Cancel(id) || timers.Len() != len(ids)-1-i {
				t.Fatalf("cancel %d: %d are left", i, timers.Len())
			}
		}
		if at, ok := timers.Next(); ok {
			t.Fatalf("after all were canceled the next is at %v", at)
		}
	}
}

func TestZeroID(t *testing.T) {
	var timers wheel.Timers[string]
	timers.Add("a", start)
	for _, id := range []wheel.ID{0, 2, 1 << 32, 1<<32 | 1} {
		if _, ok := timers.At(id); ok || timers.Cancel(id) || timers.Move(id, start) {
			t.Errorf("ID %#x is valid and was never given", id)
		}
	}
}

// Instants beyond what nanoseconds can count keep their order with the others.
func TestExtremes(t *testing.T) {
	var timers wheel.Timers[int]
	instants := []time.Time{{}, time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC), start, time.Date(2261, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<40, 0)}
	for i, at := range slices.Backward(instants) {
		timers.Add(i, at)
	}
	for want := range instants {
		if got, ok := timers.Pop(instants[want]); !ok || got != want {
			t.Errorf("Pop(%v) is %d, %v, want %d", instants[want], got, ok, want)
		}
	}
}

// The order does not depend on the order in which deadlines were added.
func TestOrderIsOfDeadlines(t *testing.T) {
	var want []int
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var timers wheel.Timers[int]
		for _, id := range rnd.Perm(300) {
			timers.Add(id, start.Add(time.Duration(id%7)*time.Second))
		}
		var got []int
		for id, ok := timers.Pop(start.Add(time.Hour)); ok; id, ok = timers.Pop(start.Add(time.Hour)) {
			got = append(got, id)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: the order changed", seed)
		}
	}
}
