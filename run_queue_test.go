package fairlead

import (
	"testing"
	"time"
)

// A Reconcile may come between the end of a pass of Run and the moment at which the
// queue learns of it: the wake that it asks for is kept, and the earlier of both counts.
func TestRemindOfRunning(t *testing.T) {
	var clock ManualClock
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock.Set(begin)
	at := func(minutes int) time.Time {
		if minutes == 0 {
			return time.Time{}
		}
		return begin.Add(time.Duration(minutes) * time.Minute)
	}
	for _, c := range []struct{ reminded, done, want int }{{60, 0, 60}, {60, 5, 5}, {5, 60, 5}, {0, 60, 60}, {0, 0, 0}} {
		q := newQueue(&RunnerOptions{Clock: &clock})
		q.trigger("a")
		if name, ok := q.take(t.Context()); name != "a" || !ok {
			t.Fatal("a was not taken")
		}
		q.remind("a", at(c.reminded))
		q.done("a", begin, at(c.done), nil)
		var got time.Time
		if it := q.items["a"]; it != nil && it.index >= 0 {
			got = it.at
		}
		if !got.Equal(at(c.want)) {
			t.Errorf("reminded of minute %d, done with %d: planned at %v, want minute %d", c.reminded, c.done, got, c.want)
		}
	}
}

// A clock that is set back puts off nothing: what was planned, what rests after a
// failure, what was said of a pass in progress, and the turns under a limit move with it.
func TestQueueClockSetBack(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	back := begin.Add(-24 * time.Hour)
	for _, c := range []struct {
		name          string
		before, after func(q *queue) // the clock is set back
		object        string
		want          time.Duration // from then on
	}{
		{"a timer", func(q *queue) { q.remind("a", begin.Add(time.Hour)) }, func(q *queue) { q.remind("a", back.Add(2*time.Hour)) }, "a", time.Hour},
		{"a rest", func(q *queue) { q.trigger("a"); q.take(t.Context()); q.done("a", begin, time.Time{}, errStale) }, func(q *queue) { q.trigger("a") }, "a", time.Second},
		{"a reminder in a pass", func(q *queue) { q.trigger("a"); q.take(t.Context()); q.remind("a", begin.Add(time.Hour)) },
			func(q *queue) { q.done("a", begin, time.Time{}, nil) }, "a", time.Hour},
		{"the wake of a pass", func(q *queue) { q.trigger("a"); q.take(t.Context()) }, func(q *queue) { q.done("a", begin, begin.Add(time.Hour), nil) }, "a", time.Hour},
		{"a turn", func(q *queue) { q.limit.interval = time.Minute; q.trigger("a") }, func(q *queue) { q.trigger("b") }, "b", time.Minute},
	} {
		var clock ManualClock
		clock.Set(begin)
		q := newQueue(&RunnerOptions{Clock: &clock, MinRetry: time.Second, MaxRetry: time.Minute})
		c.before(q)
		clock.Set(back)
		c.after(q)
		if it := q.items[c.object]; it == nil || it.index < 0 || it.at.Sub(back) != c.want {
			t.Errorf("%s: %+v is not planned %v after the clock was set back to %v", c.name, it, c.want, back)
		}
	}
}

// What fails again is tried later than before, and no earlier than its wake asks for;
// what has gone well since begins again.
func TestQueueFailures(t *testing.T) {
	var clock ManualClock
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock.Set(begin)
	q := newQueue(&RunnerOptions{Clock: &clock, MinRetry: time.Second, MaxRetry: time.Minute})
	for i, c := range []struct {
		fails      bool
		wake, want time.Duration
	}{{true, 0, time.Second}, {true, 0, 2 * time.Second}, {true, 3 * time.Second, 3 * time.Second}, {true, time.Minute, 8 * time.Second}, {false, time.Hour, time.Hour}, {true, 0, time.Second}} {
		now := clock.Now()
		q.trigger("a")
		if it := q.items["a"]; it.index >= 0 { // it rests
			clock.Set(it.at)
			q.fire(func() {})
			now = it.at
		}
		q.take(t.Context())
		var wake time.Time
		if c.wake > 0 {
			wake = now.Add(c.wake)
		}
		var err error
		if c.fails {
			err = errStale
		}
		q.done("a", now, wake, err)
		if it := q.items["a"]; it == nil || it.at.Sub(now) != c.want {
			t.Errorf("pass %d: %+v is not planned %v later", i, it, c.want)
		}
	}
}
