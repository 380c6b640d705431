// Package wheel keeps large numbers of deadlines in order: those of a million
// pods cost no goroutine and no timer of the runtime, and come out in an order
// that depends on nothing but the deadlines.
package wheel

import (
	"cmp"
	"math"
	"time"
)

// Timers is a set of pending deadlines, each with an identity. Its zero value
// is empty and ready. It is plain data: it reads no clock, and it must not be
// used by two goroutines at once.
//
// Deadlines come out by instant, those of one instant by identity. Instants are
// kept in nanoseconds: those before the year 1678 or after 2262 count as the
// first or last that is kept.
//
// It is a heap that changes lazily. Who cancels a deadline, or moves it to
// later, only notes so in its slot: no search in the heap, and no access to
// memory that is not at hand. An entry of the heap whose instant is not that of
// its slot is put right when it comes out; when such entries are a third of the
// heap, it is built again from the slots. Hence a pending deadline takes at most
// 40 bytes beside its identity, and what append sets aside.
type Timers[K cmp.Ordered] struct {
	heap []entry // four children to each: half as deep as with two, and side by side in memory

	slots []slot[K]
	free  uint32 // number+1 of the first free slot, 0 for none
	live  int    // slots that hold a pending deadline
}

// entry stands for a deadline in the heap. Of each pending deadline there is
// an entry no later than its instant; there may be more of them.
type entry struct {
	at   int64 // in nanoseconds since 1970
	slot uint32
}

// slot holds a deadline. While there are entries for it, its identity stays, for
// they are ordered by it.
type slot[K cmp.Ordered] struct {
	id      K
	at      int64  // in nanoseconds since 1970, or gone
	age     uint32 // how often a deadline left the slot, which makes old IDs invalid
	entries uint32 // in the heap; number+1 of the next free slot while this one is free
}

// gone is the instant of a slot whose deadline is not pending any more.
const gone = math.MinInt64

// ID names one pending deadline for Move and Cancel. The zero ID names none.
// An ID is invalid once its deadline has come out or was canceled, and stays so
// until its slot was used 2^32 times.
type ID uint64

// Len returns the number of pending deadlines.
func (t *Timers[K]) Len() int { return t.live }

// Add adds a deadline. The same identity may be added more than once.
func (t *Timers[K]) Add(id K, at time.Time) ID {
	n := t.free
	if n == 0 {
		t.slots = append(t.slots, slot[K]{})
		n = uint32(len(t.slots))
	} else {
		t.free = t.slots[n-1].entries
	}
	s := &t.slots[n-1]
	s.id, s.at, s.entries = id, nanos(at), 1
	t.live++
	t.push(entry{s.at, n - 1})
	return ID(s.age)<<32 | ID(n)
}

// Move gives a pending deadline another instant. It returns false, and does
// nothing, when id does not name one.
func (t *Timers[K]) Move(id ID, at time.Time) bool {
	s := t.find(id)
	if s == nil {
		return false
	}
	to := nanos(at)
	if to < s.at {
		s.entries++
		t.push(entry{to, uint32(id) - 1})
	}
	s.at = to
	t.tidy()
	return true
}

// Cancel takes a pending deadline away. It returns false, and does nothing,
// when id does not name one.
func (t *Timers[K]) Cancel(id ID) bool {
	s := t.find(id)
	if s == nil {
		return false
	}
	t.leave(s)
	t.tidy()
	return true
}

// At returns the instant of a pending deadline, in UTC, and false when id does
// not name one.
func (t *Timers[K]) At(id ID) (time.Time, bool) {
	s := t.find(id)
	if s == nil {
		return time.Time{}, false
	}
	return instant(s.at), true
}

// Next returns the earliest instant, in UTC, and false when nothing is pending.
func (t *Timers[K]) Next() (time.Time, bool) {
	if !t.settle() {
		return time.Time{}, false
	}
	return instant(t.heap[0].at), true
}

// Pop takes the first deadline away and returns its identity if it is due at
// now, that is not after it. It returns false when none is.
func (t *Timers[K]) Pop(now time.Time) (id K, ok bool) {
	if !t.settle() || t.heap[0].at > nanos(now) {
		return id, false
	}
	s := &t.slots[t.heap[0].slot]
	id = s.id
	t.leave(s)
	t.drop()
	return id, true
}

// find returns the slot of id, nil when the deadline is not pending.
func (t *Timers[K]) find(id ID) *slot[K] {
	n := uint32(id)
	if n == 0 || int(n) > len(t.slots) {
		return nil
	}
	s := &t.slots[n-1]
	if s.age != uint32(id>>32) || s.at == gone {
		return nil
	}
	return s
}

// leave ends the deadline in s. Its entries stay.
func (t *Timers[K]) leave(s *slot[K]) {
	s.at = gone
	s.age++
	t.live--
}

// settle makes the first entry of the heap that of the first deadline. It
// returns false when nothing is pending.
func (t *Timers[K]) settle() bool {
	for len(t.heap) > 0 {
		first := t.heap[0]
		switch at := t.slots[first.slot].at; {
		case at == first.at:
			return true
		case at > first.at: // it was moved to later
			t.down(0, entry{at, first.slot})
		default: // it is gone: if it was moved to earlier, the entry for that has come out
			t.drop()
		}
	}
	return false
}

// drop takes the first entry away, and frees its slot if it was the last one of
// a deadline that is gone.
func (t *Timers[K]) drop() {
	n := t.heap[0].slot
	s := &t.slots[n]
	if s.entries--; s.entries == 0 {
		t.release(n)
	}
	end := len(t.heap) - 1
	last := t.heap[end]
	if t.heap = t.heap[:end]; end > 0 {
		t.down(0, last)
	}
}

func (t *Timers[K]) release(n uint32) {
	t.slots[n] = slot[K]{at: gone, age: t.slots[n].age, entries: t.free}
	t.free = n + 1
}

// tidy builds the heap again when too many of its entries stand for nothing:
// one entry for each pending deadline.
func (t *Timers[K]) tidy() {
	const few = 64
	if len(t.heap) <= t.live+t.live/2+few {
		return
	}
	t.heap, t.free = t.heap[:0], 0
	for n := range t.slots {
		if s := &t.slots[n]; s.at == gone {
			t.release(uint32(n))
		} else {
			s.entries = 1
			t.heap = append(t.heap, entry{s.at, uint32(n)})
		}
	}
	for i := (len(t.heap)+2)/4 - 1; i >= 0; i-- {
		t.down(i, t.heap[i])
	}
}

func (t *Timers[K]) push(e entry) {
	t.heap = append(t.heap, e)
	i := len(t.heap) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !t.before(e, t.heap[parent]) {
			break
		}
		t.heap[i] = t.heap[parent]
		i = parent
	}
	t.heap[i] = e
}

// down moves the vacancy at i towards the leaves until e fits.
func (t *Timers[K]) down(i int, e entry) {
	for {
		first := 4*i + 1
		if first >= len(t.heap) {
			break
		}
		child := first
		for c := first + 1; c < min(first+4, len(t.heap)); c++ {
			if t.before(t.heap[c], t.heap[child]) {
				child = c
			}
		}
		if !t.before(t.heap[child], e) {
			break
		}
		t.heap[i] = t.heap[child]
		i = child
	}
	t.heap[i] = e
}

func (t *Timers[K]) before(a, b entry) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return t.slots[a.slot].id < t.slots[b.slot].id
}

// nanos returns at in nanoseconds since 1970, or the nearest that is kept.
func nanos(at time.Time) int64 {
	const most = math.MaxInt64 / int64(time.Second)
	switch s := at.Unix(); {
	case s >= most:
		return math.MaxInt64
	case s <= -most:
		return gone + 1
	}
	return at.UnixNano()
}

func instant(nanos int64) time.Time { return time.Unix(0, nanos).UTC() }
