// Package deadlines keeps deadlines in order, for simulations: they come out in
// an order that depends on nothing but the deadlines.
package deadlines

import (
	"cmp"
	"container/heap"
	"time"
)

// Queue is a set of deadlines, each with an identity, which may have several.
// Its zero value is empty and ready. It reads no clock, and must not be used by
// two goroutines at once.
type Queue[K cmp.Ordered] struct{ due entries[K] }

// Add adds a deadline.
func (q *Queue[K]) Add(id K, at time.Time) { heap.Push(&q.due, entry[K]{id, at}) }

// Next returns the earliest instant, and false when there is none.
func (q *Queue[K]) Next() (time.Time, bool) {
	if len(q.due) == 0 {
		return time.Time{}, false
	}
	return q.due[0].at, true
}

// Pop removes the first deadline and returns its identity if it is not after
// now, else false. Those of one instant come out by identity.
func (q *Queue[K]) Pop(now time.Time) (id K, ok bool) {
	if len(q.due) == 0 || q.due[0].at.After(now) {
		return id, false
	}
	return heap.Pop(&q.due).(entry[K]).id, true
}

type entry[K cmp.Ordered] struct {
	id K
	at time.Time
}

// entries implements [heap.Interface].
type entries[K cmp.Ordered] []entry[K]

func (e entries[K]) Len() int { return len(e) }

func (e entries[K]) Less(i, j int) bool {
	return cmp.Or(e[i].at.Compare(e[j].at), cmp.Compare(e[i].id, e[j].id)) < 0
}

func (e entries[K]) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

func (e *entries[K]) Push(x any) { *e = append(*e, x.(entry[K])) }

func (e *entries[K]) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}
