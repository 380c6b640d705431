package arch_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clockTrial is an engine in a small world in which three things can be looked at:
// something is to be done at once; it waits, or is at rest; a deadline is ahead.
// The worlds are made at noon.
type clockTrial struct {
	name string
	// open makes a world in which something is to be done.
	open func(t *testing.T, w *clockWorld)
	// backoff is within what an action that failed once is tried again.
	backoff time.Duration
	// rest makes a world that is looked at again within interval when nothing is to
	// be done. An interval of 0 says that only an event has it looked at.
	rest     func(t *testing.T, w *clockWorld)
	interval time.Duration
	// deadline makes a world in which a deadline passes within a day, and then the
	// text of an action or of a Block has missed in it. Nil says that the engine has
	// no deadline.
	deadline func(t *testing.T, w *clockWorld)
	missed   string
	// instant says that the deadline is an instant that somebody has named, and not
	// a time that something may take: setting the clock back does delay it.
	instant bool
}

// clockWorld is one engine in one world.
type clockWorld struct {
	clock     fairlead.ManualClock
	store     fairlead.MemStore
	refuse    bool // every action is refused
	reconcile func() (clockPass, error)
	pass      func() clockPass // reconcile, in which nothing fails but what is refused
}

// clockPass is what one pass has decided.
type clockPass struct {
	actions []fairlead.Action
	blocked []fairlead.Block
	wake    time.Time
}

func (p clockPass) has(text string) bool {
	return slices.ContainsFunc(p.actions, func(a fairlead.Action) bool { return strings.Contains(a.String(), text) }) ||
		slices.ContainsFunc(p.blocked, func(b fairlead.Block) bool { return strings.Contains(b.Message, text) })
}

// refusing is a backend that may refuse every action.
type refusing[W any, A fairlead.Action] struct {
	fairlead.Backend[W, A]
	refuse *bool
}

func (b refusing[W, A]) Apply(ctx context.Context, name string, a A) error {
	if *b.refuse {
		return &fairlead.RefusedError{Code: 503, Message: "not now"}
	}
	return b.Backend.Apply(ctx, name, a)
}

type reconcile[S any, A fairlead.Action, B fairlead.Blocker] func(context.Context, string) (fairlead.Decision[S, A, B], error)

// drive makes the passes of w those of an engine over the object name.
func drive[S, W any, A fairlead.Action, B fairlead.Blocker](t *testing.T, w *clockWorld, name string, backend fairlead.Backend[W, A],
	runner func(fairlead.Backend[W, A], *fairlead.RunnerOptions) (reconcile[S, A, B], error),
) {
	t.Helper()
	r, err := runner(refusing[W, A]{backend, &w.refuse}, &fairlead.RunnerOptions{Clock: &w.clock, Store: &w.store})
	if err != nil {
		t.Fatal(err)
	}
	w.reconcile = func() (clockPass, error) {
		d, err := r(t.Context(), name)
		p := clockPass{blocked: d.Blocks(), wake: d.Wake}
		for _, a := range d.Actions {
			p.actions = append(p.actions, a)
		}
		return p, err
	}
	w.pass = func() clockPass {
		p, err := w.reconcile()
		var refused *fairlead.RefusedError
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("at %s: %v", w.clock.Now(), err)
		}
		return p
	}
}

// until makes passes when they are asked for, up to an instant, and reports
// whether one was what is looked for. It ends at that instant otherwise.
func (w *clockWorld) until(end time.Time, found func(clockPass) bool) bool {
	for range 10_000 {
		p := w.pass()
		now := w.clock.Now()
		switch {
		case found(p):
			return true
		case len(p.actions) > 0 && !w.refuse: // what they did is seen at once
		case p.wake.IsZero() || p.wake.After(end):
			w.clock.Set(end)
			return false
		default:
			w.clock.Set(latest(p.wake, now.Add(time.Millisecond)))
		}
	}
	return false
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// TestClock sets the clock of every engine back and forward:
//
//  1. An action fails at 12:00, and the clock is set to 06:00: the next attempt
//     comes within its backoff.
//  2. At rest the clock is set back by a day: the next look comes within an
//     interval.
//  3. The clock is set forward by a day: what a deadline asks for is done.
func TestClock(t *testing.T) {
	for _, c := range clockTrials() {
		open := func(t *testing.T, world func(*testing.T, *clockWorld)) *clockWorld {
			w := new(clockWorld)
			w.clock.Set(noon)
			world(t, w)
			return w
		}
		t.Run(c.name+"/back after a failure", func(t *testing.T) {
			w := open(t, c.open)
			w.refuse = true
			failed := w.pass().actions
			if len(failed) == 0 {
				t.Fatal("there is nothing to be done")
			}
			six := noon.Add(-6 * time.Hour)
			w.clock.Set(six)
			again := func(p clockPass) bool {
				return slices.ContainsFunc(p.actions, func(a fairlead.Action) bool { return a.String() == failed[0].String() })
			}
			if !w.until(six.Add(c.backoff), again) {
				t.Errorf("within %s %q is not tried again", c.backoff, failed[0])
			}
		})
		t.Run(c.name+"/back at rest", func(t *testing.T) {
			w := open(t, c.rest)
			w.until(noon.Add(time.Minute), func(clockPass) bool { return false })
			if p := w.pass(); len(p.actions) > 0 || (c.interval == 0) != p.wake.IsZero() {
				t.Fatalf("it is not at rest: %v, wake %s", p.actions, p.wake)
			}
			now := w.clock.Now().Add(-24 * time.Hour)
			w.clock.Set(now)
			if p := w.pass(); (c.interval == 0) != p.wake.IsZero() || p.wake.After(now.Add(c.interval)) {
				t.Errorf("at %s the next look is asked for at %s: want one within %s", now, p.wake, c.interval)
			}
		})
		if c.deadline == nil {
			continue
		}
		t.Run(c.name+"/forward", func(t *testing.T) {
			w := open(t, c.deadline)
			missed := func(p clockPass) bool { return p.has(c.missed) }
			if w.until(noon.Add(time.Minute), missed) {
				t.Fatal("the deadline passes at once")
			}
			next := w.clock.Now().Add(24 * time.Hour)
			w.clock.Set(next)
			if !w.until(next.Add(time.Minute), missed) {
				t.Errorf("a day later there is no %q: %+v", c.missed, w.pass())
			}
		})
		if c.instant {
			continue
		}
		t.Run(c.name+"/back before a deadline", func(t *testing.T) {
			w := open(t, c.deadline)
			missed := func(p clockPass) bool { return p.has(c.missed) }
			w.until(noon.Add(time.Minute), missed)
			back := w.clock.Now().Add(-24 * time.Hour)
			w.clock.Set(back)
			if !w.until(back.Add(6*time.Hour), missed) { // no deadline in these worlds is longer
				t.Errorf("set back by a day there is no %q within six hours: %+v", c.missed, w.pass())
			}
		})
	}
}
