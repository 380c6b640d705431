package whatif

import (
	"cmp"
	"time"

	"github.com/fairlead/fairlead/internal/binheap"
)

// agenda is a queue of future events, by time, then by number. Each number is
// in it at most once.
type agenda struct {
	entries binheap.Heap[entry]
	at      map[int32]time.Time // when each number is due
}

type entry struct {
	at     time.Time
	number int32
}

func (e entry) before(o entry) bool {
	return cmp.Or(e.at.Compare(o.at), cmp.Compare(e.number, o.number)) < 0
}

// set puts a number on the agenda, or moves it to another time.
func (a *agenda) set(number int32, at time.Time) {
	if old, there := a.at[number]; there && old.Equal(at) {
		return
	}
	if a.at == nil {
		a.at = make(map[int32]time.Time)
	}
	a.at[number] = at
	a.entries.Less = entry.before
	a.entries.Push(entry{at, number})
}

// next removes the first number from the agenda; ok is false if there is none.
func (a *agenda) next() (number int32, at time.Time, ok bool) {
	for len(a.entries.Items) > 0 {
		e := a.entries.Pop()
		if now, there := a.at[e.number]; there && now.Equal(e.at) { // it has not been moved
			delete(a.at, e.number)
			return e.number, e.at, true
		}
	}
	return 0, time.Time{}, false
}
