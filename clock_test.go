package fairlead_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// steppedClock is somebody else's clock, with Now only: the runtime's time,
// and an offset that a test moves as an operator sets a clock.
type steppedClock struct{ offset atomic.Int64 }

func (c *steppedClock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

func TestSleepUntil(t *testing.T) {
	tests := []struct {
		name  string
		until time.Duration // from now
		step  time.Duration // the clock is set by this, 30 s on
		end   time.Duration // ctx ends then; 0: never
		want  time.Duration // how long it takes
		err   error
	}{
		{name: "past", until: -time.Hour},
		{name: "now"},
		{name: "soon", until: time.Second, want: time.Second},
		{name: "far", until: 300*time.Hour + 7, want: 300*time.Hour + 7},
		{name: "canceled", until: time.Hour, end: time.Minute + 1, want: time.Minute + 1, err: context.DeadlineExceeded},
		{name: "clock set forward past the instant", until: time.Hour, step: 2 * time.Hour, want: time.Minute},
		{name: "clock set forward", until: time.Hour, step: 20 * time.Minute, want: 40 * time.Minute},
		{name: "clock set back", until: time.Hour, step: -time.Hour, want: 2 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.end != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.end)
					defer cancel()
				}
				c := &steppedClock{}
				time.AfterFunc(30*time.Second, func() { c.offset.Store(int64(tt.step)) })
				begin := time.Now()
				err := fairlead.SleepUntil(ctx, c, begin.Add(tt.until))
				if !errors.Is(err, tt.err) || tt.err == nil && err != nil {
					t.Errorf("got error %v, want %v", err, tt.err)
				}
				if took := time.Since(begin); took != tt.want {
					t.Errorf("took %v, want %v", took, tt.want)
				}
			})
		})
	}
}

func TestSleepUntilEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []fairlead.Clock{fairlead.SystemClock{}, &fairlead.ManualClock{}} {
		if err := fairlead.SleepUntil(ctx, c, time.Time{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%T: got %v, want context.Canceled although the instant has passed", c, err)
		}
	}
}

func TestManualClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c fairlead.ManualClock
		c.Set(start)
		if _, ok := c.Next(); ok {
			t.Error("Next reports a sleeper before there is one")
		}
		woken := make(chan time.Duration, 3)
		for _, d := range []time.Duration{3 * time.Second, time.Second, 2 * time.Second} {
			go func() {
				if fairlead.SleepUntil(t.Context(), &c, start.Add(d)) == nil {
					woken <- d
				}
			}()
		}
		for want := time.Second; want <= 3*time.Second; want += time.Second {
			synctest.Wait()
			if len(woken) != 0 {
				t.Fatalf("%v woke before its time", <-woken)
			}
			next, ok := c.Next()
			if !ok || !next.Equal(start.Add(want)) {
				t.Fatalf("Next is %v, %v, want %v", next, ok, start.Add(want))
			}
			c.Set(next.Add(-1))
			synctest.Wait()
			if len(woken) != 0 {
				t.Fatalf("%v woke a nanosecond early", <-woken)
			}
			c.Advance(1)
			if got := <-woken; got != want {
				t.Fatalf("%v woke, want %v", got, want)
			}
		}
	})
}

func TestManualClockForgetsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c fairlead.ManualClock
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.SleepUntil(ctx, start); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		if at, ok := c.Next(); ok {
			t.Errorf("a canceled sleeper still waits for %v", at)
		}
	})
}
