package fairlead

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"
)

// queue decides which object gets the next pass, and when. Objects for which
// nothing is planned take no memory.
//
// All times in it are relative to the clock that they were read from: if the
// clock is set back, they move back by as much. So a clock that is set back
// delays nothing by more than the time since it was last read.
type queue struct {
	clock   Clock
	backoff Backoff // of passes that fail

	mu     sync.Mutex
	some   sync.Cond // signals that ready may not be zero, or the caller's context has ended
	items  map[string]*item
	due    []turn // objects whose pass may begin because their timer said so, in order
	asked  []turn // those that were triggered, in order
	ready  int    // how many objects are in due or asked
	favors int    // how many turns in a row went to due while asked was not empty
	turns  uint64 // counts turns
	timers timers
	limit  limiter
	seen   time.Time // the clock, when it was last read
	serial uint64    // counts timers

	alarm time.Time          // what tick sleeps until, zero to wait for an event
	rouse context.CancelFunc // ends that sleep; nil when tick does not sleep
}

// item is an object for which something is planned. It is running, or queued,
// or waits for its timer.
type item struct {
	name     string
	running  bool
	again    bool      // running, and triggered since the pass began
	wake     time.Time // running, and the earliest wake of which remind was told since
	queued   bool      // its pass may begin, or its timer is its turn under the limit
	turn     uint64    // the turn that it has in due or asked, 0 for none
	late     bool      // queued, and its timer is the reason
	failures int       // in a row
	rest     time.Time // no pass before it

	at     time.Time // of its timer
	serial uint64    // of its timer: orders timers of the same time by when they were set
	index  int       // in timers, -1 without a timer
}

// turn is a place in a list of those whose pass may begin. It is void if the item
// has another turn meanwhile, or none.
type turn struct {
	it *item
	n  uint64
}

// maxFavors is how many turns in a row go to what is due, as long as something that
// was triggered waits: mostly it has nothing to do, but it must not starve.
const maxFavors = 3

func newQueue(o *RunnerOptions) *queue {
	q := &queue{
		clock: o.Clock, backoff: Backoff{Min: o.MinRetry, Max: o.MaxRetry},
		items: make(map[string]*item),
		limit: limiter{interval: o.Interval, slack: time.Duration(o.Burst-1) * o.Interval},
	}
	q.some.L = &q.mu
	return q
}

// now reads the clock, and moves all times along with it if it was set back.
// q.mu is held.
func (q *queue) now() time.Time {
	reading := q.clock.Now()
	now := reading.Round(0)
	if back := q.seen.Round(0).Sub(now); back > 0 {
		// A monotonic reading tells how much time has passed.
		back += max(0, reading.Sub(q.seen))
		for _, it := range q.items {
			it.at, it.rest, it.wake = moved(it.at, back), moved(it.rest, back), moved(it.wake, back)
		}
		q.limit.next = moved(q.limit.next, back)
	}
	q.seen = reading
	return now
}

// moved returns t earlier by that much; zero stays zero.
func moved(t time.Time, back time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(-back)
}

// trigger plans a pass as soon as possible.
func (q *queue) trigger(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch it := q.item(name); {
	case it.running:
		it.again = true
	case it.queued:
	default:
		now := q.now()
		q.plan(it, now, now)
	}
}

// remind plans a pass at wake, if it is not zero and no earlier one is planned.
func (q *queue) remind(name string, wake time.Time) {
	if wake.IsZero() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch it, now := q.item(name), q.now(); {
	case it.running:
		it.wake = earlier(it.wake, wake)
	case !it.queued:
		q.plan(it, wake, now)
	}
}

// earlier returns the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (q *queue) item(name string) *item {
	it := q.items[name]
	if it == nil {
		it = &item{name: name, index: -1}
		q.items[name] = it
	}
	return it
}

// plan makes it due at the given time, but not before it has rested. An earlier
// planned time stays.
func (q *queue) plan(it *item, at, now time.Time) {
	if at.Before(it.rest) {
		at = it.rest
	}
	if !at.After(now) {
		q.enqueue(it, now)
		return
	}
	if it.index < 0 || at.Before(it.at) {
		q.setTimer(it, at)
	}
}

// enqueue gives it its turn, at once or when the limit allows it. If it is at once, a
// timer that it has stays: it is late if that expires before its turn comes.
func (q *queue) enqueue(it *item, now time.Time) {
	it.queued = true
	if turn := q.limit.take(now); turn.After(now) {
		q.setTimer(it, turn)
		return
	}
	q.begin(it)
}

// begin puts it behind those whose pass may begin.
func (q *queue) begin(it *item) {
	if it.turn == 0 {
		q.ready++
		q.some.Signal()
	}
	q.turns++
	it.turn = q.turns
	if it.late {
		q.due = append(q.due, turn{it, it.turn})
	} else {
		q.asked = append(q.asked, turn{it, it.turn})
	}
}

// setTimer sets the one timer of it, and wakes tick if that is earlier than the
// end of its sleep.
func (q *queue) setTimer(it *item, at time.Time) {
	q.serial++
	it.at, it.serial = at, q.serial
	if it.index >= 0 {
		heap.Fix(&q.timers, it.index)
	} else {
		heap.Push(&q.timers, it)
	}
	if q.rouse != nil && (q.alarm.IsZero() || at.Before(q.alarm)) {
		q.rouse()
	}
}

// take waits for an object whose pass may begin. It returns false if ctx has
// ended; whoever ends ctx calls wakeAll.
func (q *queue) take(ctx context.Context) (name string, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.ready == 0 && ctx.Err() == nil {
		q.some.Wait()
	}
	if ctx.Err() != nil {
		return "", false
	}
	it := q.next()
	if it.index >= 0 {
		heap.Remove(&q.timers, it.index)
	}
	q.ready--
	it.queued, it.late, it.turn, it.running = false, false, 0, true
	return it.name, true
}

// next removes the turn that is next and returns its item. There is one.
func (q *queue) next() *item {
	due, asked := head(&q.due), head(&q.asked)
	switch {
	case due != nil && (asked == nil || q.favors < maxFavors):
		if q.favors++; asked == nil {
			q.favors = 0
		}
		q.due = q.due[1:]
		return due
	default:
		q.favors = 0
		q.asked = q.asked[1:]
		return asked
	}
}

// head drops void turns, and returns the item of the first one, or nil.
func head(list *[]turn) *item {
	for len(*list) > 0 {
		if t := (*list)[0]; t.it.turn == t.n {
			return t.it
		}
		*list = (*list)[1:]
	}
	return nil
}

func (q *queue) wakeAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.some.Broadcast()
}

// done plans what follows a pass that began at the given time. Wake is by the
// clock of that time; if the clock was set back meanwhile, wake is moved along.
func (q *queue) done(name string, began, wake time.Time, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it, now := q.items[name], q.now()
	if back := began.Sub(now); back > 0 {
		wake = moved(wake, back)
	}
	again := it.again
	wake = earlier(wake, it.wake)
	it.running, it.again, it.wake = false, false, time.Time{}
	if err == nil {
		it.failures, it.rest = 0, time.Time{}
	} else {
		it.failures++
		it.rest = now.Add(q.backoff.After(1))
		wake = earlier(wake, now.Add(q.backoff.After(it.failures)))
	}
	switch {
	case again:
		q.plan(it, now, now)
	case !wake.IsZero():
		q.plan(it, wake, now)
	default:
		delete(q.items, name)
	}
}

// tick makes objects ready when their timers are due, until ctx ends. It
// returns an error only if the clock cannot be waited on.
func (q *queue) tick(ctx context.Context) error {
	for ctx.Err() == nil {
		sleep, cancel := context.WithCancel(ctx)
		var err error
		if next, ok := q.fire(cancel); ok {
			err = nap(sleep, q.clock, next)
		} else {
			<-sleep.Done()
		}
		if err != nil && sleep.Err() == nil {
			cancel()
			return errors.Join(errors.New("the clock cannot be waited on"), err)
		}
		cancel()
	}
	return nil
}

// fire handles the timers that are due, and returns the time to sleep until.
// Setting an earlier timer meanwhile calls rouse.
func (q *queue) fire(rouse context.CancelFunc) (next time.Time, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rouse = nil // nobody sleeps
	now := q.now()
	for len(q.timers) > 0 && !q.timers[0].at.After(now) {
		it := heap.Pop(&q.timers).(*item)
		turnUnderLimit := it.queued && it.turn == 0
		it.late = it.late || !turnUnderLimit
		if it.queued {
			q.begin(it)
		} else {
			q.enqueue(it, now)
		}
	}
	q.alarm, q.rouse = time.Time{}, rouse
	if len(q.timers) > 0 {
		q.alarm = q.timers[0].at
	}
	return q.alarm, len(q.timers) > 0
}

// timers is a heap of the items that have a timer, by time.
type timers []*item

// Len implements heap.Interface.
func (t timers) Len() int { return len(t) }

// Less implements heap.Interface.
func (t timers) Less(i, j int) bool {
	if c := t[i].at.Compare(t[j].at); c != 0 {
		return c < 0
	}
	return t[i].serial < t[j].serial
}

// Swap implements heap.Interface.
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}

// Push implements heap.Interface.
func (t *timers) Push(x any) {
	it := x.(*item)
	it.index = len(*t)
	*t = append(*t, it)
}

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := len(*t) - 1
	it := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	it.index = -1
	return it
}

// limiter spaces events: on average one per interval, with slack for those that
// come early. The zero limiter limits nothing.
type limiter struct {
	interval time.Duration
	slack    time.Duration
	next     time.Time // when an event would be neither early nor late
}

// take reserves a turn for an event at now, and returns its time.
func (l *limiter) take(now time.Time) time.Time {
	if l.interval <= 0 {
		return now
	}
	if l.next.Before(now) {
		l.next = now
	}
	turn := l.next.Add(-l.slack)
	l.next = l.next.Add(l.interval)
	if turn.Before(now) {
		return now
	}
	return turn
}
