package whatif

import (
	"cmp"
	"time"

	"github.com/fairlead/fairlead/internal/binheap"
)

// agenda is what happens next, by instant; at one instant by number. Each number
// is on it once at most.
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

// set puts a number on the agenda, or moves it to another instant.
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

// next takes the first number off the agenda; ok is false if there is none.
func (a *agenda) next() (number int32, at time.Time, ok bool) {
	for len(a.entries.Items) > 0 {
		e := a.entries.Pop()
		if now, there := a.at[e.number]; there && now.Equal(e.at) { // it was not moved since
			delete(a.at, e.number)
			return e.number, e.at, true
		}
	}
	return 0, time.Time{}, false
}
