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
	some   sync.Cond // signals that ready may not be empty, or the caller's context has ended
	items  map[string]*item
	ready  []string // objects whose pass may begin, in order
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
	queued   bool      // in ready, or its timer is its turn under the limit
	failures int       // in a row
	rest     time.Time // no pass before it

	at     time.Time // of its timer
	serial uint64    // of its timer: orders timers of the same time by when they were set
	index  int       // in timers, -1 without a timer
}

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
			it.at, it.rest = moved(it.at, back), moved(it.rest, back)
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
	if it := q.item(name); !it.running && !it.queued {
		q.plan(it, wake, q.now())
	}
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

// enqueue gives it its turn, at once or when the limit allows it.
func (q *queue) enqueue(it *item, now time.Time) {
	it.queued = true
	if turn := q.limit.take(now); turn.After(now) {
		q.setTimer(it, turn)
		return
	}
	if it.index >= 0 {
		heap.Remove(&q.timers, it.index)
	}
	q.begin(it)
}

func (q *queue) begin(it *item) {
	q.ready = append(q.ready, it.name)
	q.some.Signal()
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
	for len(q.ready) == 0 && ctx.Err() == nil {
		q.some.Wait()
	}
	if ctx.Err() != nil {
		return "", false
	}
	name, q.ready = q.ready[0], q.ready[1:]
	it := q.items[name]
	it.queued, it.running = false, true
	return name, true
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
	it.running, it.again = false, false
	if err == nil {
		it.failures, it.rest = 0, time.Time{}
	} else {
		it.failures++
		it.rest = now.Add(q.backoff.After(1))
		if retry := now.Add(q.backoff.After(it.failures)); wake.IsZero() || retry.Before(wake) {
			wake = retry
		}
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
		if it := heap.Pop(&q.timers).(*item); it.queued {
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
