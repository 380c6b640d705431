// Package loop is the one loop that drives the engines. An engine is a pure
// Step over its own types of state, world and action; its package wraps a
// [Runner] of this one, so that all engines save, apply, wait, repeat and shut
// down alike. What users are promised stands at fairlead.RunnerOptions.
//
// What an engine owes in return:
//
//  1. Step is pure, and leaves its arguments as they are. Time comes to it in
//     UTC, and without a monotonic reading.
//  2. Each action of a decision is valid by itself on the saved state, whether
//     those before it succeed or fail, and may be applied again.
//  3. State survives encoding/json: what is decoded is what was encoded.
//  4. Whoever changes the form of State raises Version, and reads the older ones
//     in Upgrade.
package loop

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead"
)

// Decision is what Step returns. Engines declare it again with types of their
// own, the same fields in the same order, and convert.
type Decision[S, A any] struct {
	State   S                // to be saved
	Actions []A              // to be applied then, in this order
	Blocked []fairlead.Block // why nothing more happens, in the engine's order
	Wake    time.Time        // when to look again, zero for an event only
}

// Engine is what drives differ in. S is the state of one object, W what is
// observed of the world for it, A an action.
type Engine[S, W, A any] struct {
	// Name is the engine's: it begins the keys of its state. Lower-case letters
	// only.
	Name string

	// Step decides.
	Step func(state S, world W, now time.Time) Decision[S, A]

	// Observe returns the world as the object sees it.
	Observe func(ctx context.Context, name string) (W, error)

	// Apply carries out one action.
	Apply func(ctx context.Context, name string, action A) error

	// ApplyAll carries out all actions of one decision. When it is not nil, Apply
	// is not called.
	ApplyAll func(ctx context.Context, name string, actions []A) error

	// Version is that of the form of S, 1 or more.
	Version int

	// Upgrade reads state of an older version. It is needed from version 2 on.
	Upgrade func(version int, state []byte) (S, error)

	// Done reports whether state need not be kept, for the same would be decided
	// without it: it is deleted, after the actions of the decision were applied
	// without an error. Nil means that state is always kept.
	Done func(state S) bool
}

// Runner drives one engine. Its methods may be called from several goroutines.
type Runner[S, W, A any] struct {
	engine Engine[S, W, A]
	opts   fairlead.RunnerOptions // completed
	locks  locks
	queue  *queue
	runs   atomic.Bool // Run is under way
}

// New returns a Runner. Nil options mean the zero ones.
func New[S, W, A any](engine Engine[S, W, A], opts *fairlead.RunnerOptions) *Runner[S, W, A] {
	var o fairlead.RunnerOptions
	if opts != nil {
		o = *opts
	}
	if o.Store == nil {
		o.Store = new(fairlead.MemStore)
	}
	if o.Clock == nil {
		o.Clock = fairlead.SystemClock{}
	}
	if o.Trace == nil {
		o.Trace = new(fairlead.Trace)
	}
	o.Workers = positive(o.Workers, 4)
	o.Burst = positive(o.Burst, 1)
	o.MinRetry = positive(o.MinRetry, time.Second)
	o.MaxRetry = max(positive(o.MaxRetry, time.Minute), o.MinRetry)
	if o.Grace == 0 {
		o.Grace = 30 * time.Second
	}
	return &Runner[S, W, A]{engine: engine, opts: o, queue: newQueue(&o)}
}

func positive[T int | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// Reconcile is one pass over the object, now. It returns the decision that was
// saved, and the errors of all actions that failed, joined. With an error from
// before the actions the decision is zero. It waits for a pass over the same
// object that is under way.
func (r *Runner[S, W, A]) Reconcile(ctx context.Context, name string) (Decision[S, A], error) {
	d, err := r.reconcile(ctx, ctx, name)
	if err == nil && r.runs.Load() {
		r.queue.remind(name, d.Wake)
	}
	return d, err
}

// Preview returns what a pass would decide now. It saves and applies nothing.
func (r *Runner[S, W, A]) Preview(ctx context.Context, name string) (d Decision[S, A], err error) {
	call := ""
	defer r.explain(name, &call, &err)
	p, err := r.decide(ctx, name, &call)
	return p.Decision, err
}

// State returns the saved state of the object, the zero S when there is none.
func (r *Runner[S, W, A]) State(ctx context.Context, name string) (S, error) {
	l, err := r.load(ctx, name)
	return l.state, err
}

// maxConflicts bounds how often a pass begins anew because others change the
// state. After so many it fails, and is repeated like any other.
const maxConflicts = 10

// reconcile is Reconcile. When ctx ends, nothing is begun any more; acts is the
// context of what is.
func (r *Runner[S, W, A]) reconcile(ctx, acts context.Context, name string) (d Decision[S, A], err error) {
	unlock, err := r.locks.lock(ctx, name)
	if err != nil {
		return d, err
	}
	defer unlock()
	if f := r.opts.Trace.Begin; f != nil {
		f(name)
	}
	if f := r.opts.Trace.End; f != nil {
		defer func() {
			f(name, fairlead.Pass{Actions: len(d.Actions), Blocked: d.Blocked, Wake: d.Wake, Err: err})
		}()
	}
	call := ""
	defer r.explain(name, &call, &err)
	for range maxConflicts {
		if d, err = r.pass(ctx, acts, name, &call); !errors.Is(err, errStale) {
			return d, err
		}
		if f := r.opts.Trace.Conflict; f != nil {
			f(name)
		}
	}
	return d, err
}

// errStale says that the state was changed by somebody else since it was read.
// It is an error of its own so that a conflict which a backend reports is not
// taken for one.
var errStale = errors.New("state changed by another runner")

// proposal is a decision that was not saved yet.
type proposal[S, A any] struct {
	Decision[S, A]
	loaded  loaded[S] // what it was decided on
	soonest time.Time // when the next pass may begin that nothing asks for
}

// decide loads, observes and steps. It keeps call at what it is doing.
func (r *Runner[S, W, A]) decide(ctx context.Context, name string, call *string) (p proposal[S, A], err error) {
	*call = "load"
	if p.loaded, err = r.load(ctx, name); err != nil {
		return p, err
	}
	*call = "observe"
	world, err := r.engine.Observe(ctx, name)
	if err != nil {
		return p, err
	}
	*call = "step"
	now := r.opts.Clock.Now().Round(0).UTC()
	p.Decision = r.engine.Step(p.loaded.state, world, now)
	p.soonest = now.Add(r.opts.MinRetry)
	if spins := !p.Wake.IsZero() && !p.Wake.After(now); spins {
		p.Wake = p.soonest
	}
	return p, nil
}

// pass decides, saves and applies.
func (r *Runner[S, W, A]) pass(ctx, acts context.Context, name string, call *string) (none Decision[S, A], err error) {
	p, err := r.decide(acts, name, call)
	if err != nil {
		return none, err
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	*call = "save"
	rev, err := r.save(acts, name, p)
	if err != nil {
		return none, err
	}
	*call = "apply"
	if err := r.apply(ctx, acts, name, p.Actions); err != nil {
		return p.Decision, err
	}
	if unseen := p.Wake.IsZero() && len(p.Actions) > 0; unseen {
		p.Wake = p.soonest
	}
	*call = "delete the state"
	return p.Decision, r.finish(acts, name, p, rev)
}

// apply carries out actions. It goes on after one that fails.
func (r *Runner[S, W, A]) apply(ctx, acts context.Context, name string, actions []A) error {
	if r.engine.ApplyAll != nil && len(actions) > 0 {
		err := protect("apply", func() error { return r.engine.ApplyAll(acts, name, actions) })
		for _, a := range actions {
			r.applied(name, a, err)
		}
		return err
	}
	var failed []error
	for _, a := range actions {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(failed, err)...)
		}
		err := protect("apply", func() error { return r.engine.Apply(acts, name, a) })
		if err != nil {
			failed = append(failed, err)
		}
		r.applied(name, a, err)
	}
	return errors.Join(failed...)
}

func (r *Runner[S, W, A]) applied(name string, action A, err error) {
	if f := r.opts.Trace.Applied; f != nil {
		f(name, action, err)
	}
}

// explain turns a panic into an error, and adds to an error what it is about.
func (r *Runner[S, W, A]) explain(name string, call *string, err *error) {
	if v := recover(); v != nil {
		*err = newPanic(*call, v)
	}
	var version *fairlead.VersionError
	if *err != nil && !errors.As(*err, &version) { // which names all by itself
		*err = fmt.Errorf("%s %s: %s: %w", r.engine.Name, name, *call, *err)
	}
}
