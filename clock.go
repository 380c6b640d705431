package fairlead

import (
	"context"
	"sync"
	"time"
)

// Clock tells the time. Only runners read it: an engine's Step is given the time.
// The clocks of k8s.io/utils/clock and github.com/benbjohnson/clock can be used as
// they are. Now is called from several goroutines.
type Clock interface {
	Now() time.Time
}

// Sleeper is a Clock that can wait in its own time. [SleepUntil] finds it by
// assertion.
type Sleeper interface {
	Clock
	// SleepUntil returns nil once Now is not before t, and ctx.Err() if ctx ends
	// first. It may return nil early, and should if the clock was set back:
	// callers read the clock again.
	SleepUntil(ctx context.Context, t time.Time) error
}

// SystemClock is the clock of the machine. Runners use it by default.
type SystemClock struct{}

// Now returns [time.Now].
func (SystemClock) Now() time.Time { return time.Now() }

// recheck bounds how long SleepUntil sleeps without reading the clock.
const recheck = time.Minute

// SleepUntil waits until c shows t or later and returns nil, or returns ctx.Err()
// if ctx ends first.
//
//  1. If ctx has already ended, its error is returned, whatever c shows.
//  2. If c is a [Sleeper], it does the waiting, repeatedly if it wakes early.
//  3. Otherwise a runtime timer waits, and c is read when it expires and at
//     least once a minute, so that changes of the clock, or a suspended
//     machine, are noticed.
func SleepUntil(ctx context.Context, c Clock, t time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for c.Now().Before(t) {
		if err := nap(ctx, c, t); err != nil {
			return err
		}
	}
	return nil
}

// nap waits until c shows t or later, or may have been set back, or recheck has
// passed; or until ctx ends.
func nap(ctx context.Context, c Clock, t time.Time) error {
	if s, ok := c.(Sleeper); ok {
		return s.SleepUntil(ctx, t)
	}
	timer := time.NewTimer(min(t.Sub(c.Now()), recheck))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// sleep waits for d by the clock c, even if the clock is set meanwhile.
func sleep(ctx context.Context, c Clock, d time.Duration) error {
	last := c.Now().Round(0)
	for d > 0 {
		if err := nap(ctx, c, last.Add(d)); err != nil {
			return err
		}
		now := c.Now().Round(0)
		d -= max(0, now.Sub(last))
		last = now
	}
	return nil
}

// alarm calls f on another goroutine after d by the machine's clock, whatever a Clock
// shows: for calls that hang, which take no time in a simulation.
func alarm(d time.Duration, f func()) *time.Timer { return time.AfterFunc(d, f) }

// ManualClock is a [Sleeper] whose time moves only when it is set: for tests,
// simulations and what-if questions. Its zero value is ready to use and shows the
// zero time. It must not be copied after first use; its methods may be called from
// several goroutines.
//
// In a bubble of testing/synctest, goroutines that sleep on a ManualClock
// count as durably blocked: synctest.Wait returns once all of them sleep.
type ManualClock struct {
	mu       sync.Mutex
	now      time.Time
	sleepers map[*sleeper]struct{}
}

// A sleeper is one call of SleepUntil. Its channel is closed when it is due.
type sleeper struct {
	at  time.Time
	due chan struct{}
}

// Now returns the time that was set last.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock to t, and wakes all sleepers that wait for t or earlier. If
// t is before the current time, it wakes all, so that they read the clock again.
func (c *ManualClock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(t)
}

// Advance moves the clock by d in one step and wakes all sleepers that are due
// by then; they see the new time. To stop at each instant in between, call Set
// with Next repeatedly.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(c.now.Add(d))
}

func (c *ManualClock) set(t time.Time) {
	back := t.Before(c.now)
	c.now = t
	for s := range c.sleepers {
		if back || !s.at.After(t) {
			close(s.due)
			delete(c.sleepers, s)
		}
	}
}

// Next returns the earliest instant that a sleeper waits for, and false if
// there is none.
func (c *ManualClock) Next() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var next time.Time
	found := false
	for s := range c.sleepers {
		if !found || s.at.Before(next) {
			next, found = s.at, true
		}
	}
	return next, found
}

// SleepUntil waits until the clock is moved to t or later, or back. It returns nil
// at once if the clock already shows t or later, and ctx.Err() if ctx ends first.
func (c *ManualClock) SleepUntil(ctx context.Context, t time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	if !c.now.Before(t) {
		c.mu.Unlock()
		return nil
	}
	s := &sleeper{at: t, due: make(chan struct{})}
	if c.sleepers == nil {
		c.sleepers = make(map[*sleeper]struct{})
	}
	c.sleepers[s] = struct{}{}
	c.mu.Unlock()

	select {
	case <-s.due:
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.sleepers, s)
		c.mu.Unlock()
		return ctx.Err()
	}
}
