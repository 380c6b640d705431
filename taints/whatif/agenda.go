package whatif

import (
	"cmp"
	"container/heap"
	"time"
)

// agenda is what happens next, by instant; at one instant by number. Each number
// is on it once at most.
type agenda struct {
	entries entries
	at      map[int32]time.Time // when each number is due
}

type entry struct {
	at     time.Time
	number int32
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
	heap.Push(&a.entries, entry{at, number})
}

// next takes the first number off the agenda; ok is false if there is none.
func (a *agenda) next() (number int32, at time.Time, ok bool) {
	for len(a.entries) > 0 {
		e := heap.Pop(&a.entries).(entry)
		if now, there := a.at[e.number]; there && now.Equal(e.at) { // it was not moved since
			delete(a.at, e.number)
			return e.number, e.at, true
		}
	}
	return 0, time.Time{}, false
}

// entries is a heap.
type entries []entry

func (e entries) Len() int { return len(e) }
func (e entries) Less(i, j int) bool {
	return cmp.Or(e[i].at.Compare(e[j].at), cmp.Compare(e[i].number, e[j].number)) < 0
}
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *entries) Push(x any)   { *e = append(*e, x.(entry)) }
func (e *entries) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}
