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
