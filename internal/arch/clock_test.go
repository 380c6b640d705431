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

// clockTrial is an engine with up to three small worlds: one in which it acts at
// once, one in which it waits or is at rest, and one with a deadline ahead. The
// worlds are created at noon.
type clockTrial struct {
	name string
	// open creates a world in which there is something to do.
	open func(t *testing.T, w *clockWorld)
	// backoff is the time within which an action that failed once is retried.
	backoff time.Duration
	// rest creates a world with nothing to do that is reconciled again within
	// interval. An interval of 0 means that only an event triggers a pass.
	rest     func(t *testing.T, w *clockWorld)
	interval time.Duration
	// deadline creates a world in which a deadline passes within a day; after that,
	// the text of an action or of a Block contains missed. Nil means that the engine
	// has no deadline.
	deadline func(t *testing.T, w *clockWorld)
	missed   string
	// instant means that the deadline is a point in time that a user has set, not a
	// limit on how long something takes: setting the clock back does delay it.
	instant bool
}

// clockWorld is one engine in one world.
type clockWorld struct {
	clock     fairlead.ManualClock
	store     fairlead.MemStore
	refuse    bool     // every action is refused
	spare     []string // but for those of these kinds
	reconcile func() (clockPass, error)
	pass      func() clockPass // reconcile; the test fails on errors other than refused actions
}

// clockPass is what one pass decided.
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
	world *clockWorld
}

func (b refusing[W, A]) Apply(ctx context.Context, name string, a A) error {
	if b.world.refuse && !slices.Contains(b.world.spare, a.Key().Kind) {
		return &fairlead.RefusedError{Code: 503, Message: "not now"}
	}
	return b.Backend.Apply(ctx, name, a)
}

type reconcile[S any, A fairlead.Action] func(context.Context, string) (fairlead.Decision[S, A], error)

// drive makes w run the passes of an engine over the object name.
func drive[S, W any, A fairlead.Action](t *testing.T, w *clockWorld, name string, backend fairlead.Backend[W, A],
	runner func(fairlead.Backend[W, A], *fairlead.RunnerOptions) (reconcile[S, A], error),
) {
	t.Helper()
	r, err := runner(refusing[W, A]{backend, w}, &fairlead.RunnerOptions{Clock: &w.clock, Store: &w.store})
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

// until runs passes when they are requested, up to end, and reports whether
// found accepted one of them. Otherwise the clock is at end afterwards.
func (w *clockWorld) until(end time.Time, found func(clockPass) bool) bool {
	for range 10_000 {
		p := w.pass()
		now := w.clock.Now()
		switch {
		case found(p):
			return true
		case len(p.actions) > 0 && !w.refuse: // their effects are observed at once
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
//     follows within its backoff.
//  2. At rest, the clock is set back by a day: the next pass is requested
//     within the interval.
//  3. The clock is set forward by a day: the missed deadline takes effect.
//  4. The clock is set back by a day before a deadline that is not an instant: it
//     takes effect within six hours.
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
				t.Fatal("there is nothing to do")
			}
			six := noon.Add(-6 * time.Hour)
			w.clock.Set(six)
			again := func(p clockPass) bool {
				return slices.ContainsFunc(p.actions, func(a fairlead.Action) bool { return a.String() == failed[0].String() })
			}
			if !w.until(six.Add(c.backoff), again) {
				t.Errorf("within %s, %q is not retried", c.backoff, failed[0])
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
				t.Errorf("at %s, the next pass is requested for %s, want one within %s", now, p.wake, c.interval)
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
				t.Errorf("a day later, there is no %q: %+v", c.missed, w.pass())
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
				t.Errorf("set back by a day, there is no %q within six hours: %+v", c.missed, w.pass())
			}
		})
	}
}
