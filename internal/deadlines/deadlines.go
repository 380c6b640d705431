// Package deadlines keeps deadlines in order, for simulations: the order in
// which they are popped depends only on the deadlines.
package deadlines

import (
	"cmp"
	"time"

	"github.com/fairlead/fairlead/internal/binheap"
)

// Queue is a set of deadlines, each with an identity; an identity may have
// several. The zero value is empty and ready to use. A Queue reads no clock,
// and must not be used by several goroutines at once.
type Queue[K cmp.Ordered] struct{ due binheap.Heap[entry[K]] }

// Add adds a deadline.
func (q *Queue[K]) Add(id K, at time.Time) {
	if q.due.Less == nil {
		q.due.Less = entry[K].before
	}
	q.due.Push(entry[K]{id, at})
}

// Next returns the earliest deadline, and false if there is none.
func (q *Queue[K]) Next() (time.Time, bool) {
	if len(q.due.Items) == 0 {
		return time.Time{}, false
	}
	return q.due.Items[0].at, true
}

// Pop removes the earliest deadline and returns its identity if it is not after
// now; otherwise it returns false. Deadlines at the same time are popped in the
// order of their identities.
func (q *Queue[K]) Pop(now time.Time) (id K, ok bool) {
	if at, any := q.Next(); !any || at.After(now) {
		return id, false
	}
	return q.due.Pop().id, true
}

type entry[K cmp.Ordered] struct {
	id K
	at time.Time
}

func (e entry[K]) before(o entry[K]) bool {
	if order := e.at.Compare(o.at); order != 0 {
		return order < 0
	}
	return e.id < o.id
}
