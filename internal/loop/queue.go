package loop

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/wheel"
)

// queue says which object gets the next pass, and when. Objects that nothing
// is planned for take no memory.
type queue struct {
	clock              fairlead.Clock
	minRetry, maxRetry time.Duration

	mu     sync.Mutex
	some   sync.Cond // ready may not be empty, or the caller's context has ended
	items  map[string]*item
	ready  []string // whose pass may begin, in order
	timers wheel.Timers[string]
	limit  limiter

	alarm time.Time          // what tick sleeps until, zero for an event
	rouse context.CancelFunc // ends that sleep; nil when tick does not sleep
}

// item is an object that something is planned for. It is running, or queued,
// or waits for its timer.
type item struct {
	running  bool
	again    bool      // running, and nudged since the pass began
	queued   bool      // ready, or its timer is its turn under the limit
	failures int       // in a row
	rest     time.Time // no pass before it
	timer    wheel.ID
}

func newQueue(o *fairlead.RunnerOptions) *queue {
	q := &queue{
		clock: o.Clock, minRetry: o.MinRetry, maxRetry: o.MaxRetry,
		items: make(map[string]*item),
		limit: limiter{interval: o.Interval, slack: time.Duration(o.Burst-1) * o.Interval},
	}
	q.some.L = &q.mu
	return q
}

// nudge plans a pass as soon as may be.
func (q *queue) nudge(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch it := q.item(name); {
	case it.running:
		it.again = true
	case it.queued:
	default:
		q.plan(name, it, q.clock.Now())
	}
}

// remind plans a pass at the instant wake, if it is not zero and no earlier one
// is planned.
func (q *queue) remind(name string, wake time.Time) {
	if wake.IsZero() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if it := q.item(name); !it.running && !it.queued {
		q.plan(name, it, wake)
	}
}

func (q *queue) item(name string) *item {
	it := q.items[name]
	if it == nil {
		it = new(item)
		q.items[name] = it
	}
	return it
}

// plan makes it due at the instant at, but not before it has rested. An earlier
// instant that was planned stands.
func (q *queue) plan(name string, it *item, at time.Time) {
	if at.Before(it.rest) {
		at = it.rest
	}
	now := q.clock.Now()
	if !at.After(now) {
		q.enqueue(name, it, now)
		return
	}
	if planned, ok := q.timers.At(it.timer); !ok || at.Before(planned) {
		q.setTimer(name, it, at)
	}
}

// enqueue gives it its turn, at once or when the limit allows.
func (q *queue) enqueue(name string, it *item, now time.Time) {
	it.queued = true
	if turn := q.limit.take(now); turn.After(now) {
		q.setTimer(name, it, turn)
		return
	}
	q.timers.Cancel(it.timer)
	q.begin(name)
}

func (q *queue) begin(name string) {
	q.ready = append(q.ready, name)
	q.some.Signal()
}

// setTimer sets the one timer of it, and wakes tick if that is earlier than what
// it sleeps until.
func (q *queue) setTimer(name string, it *item, at time.Time) {
	if !q.timers.Move(it.timer, at) {
		it.timer = q.timers.Add(name, at)
	}
	if q.rouse != nil && (q.alarm.IsZero() || at.Before(q.alarm)) {
		q.rouse()
	}
}

// take waits for an object whose pass may begin. It returns false when ctx has
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

// done plans what follows a pass.
func (q *queue) done(name string, wake time.Time, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it, now := q.items[name], q.clock.Now()
	again := it.again
	it.running, it.again = false, false
	if err == nil {
		it.failures, it.rest = 0, time.Time{}
	} else {
		it.rest = now.Add(q.minRetry)
		if retry := now.Add(q.backoff(it.failures)); wake.IsZero() || retry.Before(wake) {
			wake = retry
		}
		it.failures++
	}
	switch {
	case again:
		q.plan(name, it, now)
	case !wake.IsZero():
		q.plan(name, it, wake)
	default:
		delete(q.items, name)
	}
}

// backoff returns the time to wait after this many failures and one more.
func (q *queue) backoff(failures int) time.Duration {
	d := q.minRetry
	for ; failures > 0 && d < q.maxRetry; failures-- {
		d *= 2
	}
	return min(d, q.maxRetry)
}

// tick makes objects ready when their timers are due, until ctx ends. It
// returns an error only if the clock cannot be waited on.
func (q *queue) tick(ctx context.Context) error {
	for ctx.Err() == nil {
		sleep, cancel := context.WithCancel(ctx)
		var err error
		if next, ok := q.fire(cancel); ok {
			err = fairlead.SleepUntil(sleep, q.clock, next)
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

// fire handles the timers that are due, and returns the instant to sleep until.
// A timer that is set earlier meanwhile calls rouse.
func (q *queue) fire(rouse context.CancelFunc) (next time.Time, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	for name, ok := q.timers.Pop(now); ok; name, ok = q.timers.Pop(now) {
		if it := q.items[name]; it.queued {
			q.begin(name)
		} else {
			q.enqueue(name, it, now)
		}
	}
	q.alarm, ok = q.timers.Next()
	q.rouse = rouse
	return q.alarm, ok
}

// limiter spaces events: one per interval in the mean, and slack for those that
// come early. The zero limiter lets everything pass.
type limiter struct {
	interval time.Duration
	slack    time.Duration
	next     time.Time // when an event would be neither early nor late
}

// take reserves a turn for an event at now, and returns when it is.
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
