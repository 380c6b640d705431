package fairlead

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Runner drives an [Engine], with the guarantees listed at [RunnerOptions]. Its
// methods may be called from several goroutines.
type Runner[S, W any, A Action, B Blocker] struct {
	engine  Engine[S, W, A, B]
	batch   BatchBackend[W, A] // the engine's Backend, nil if it is not one
	options RunnerOptions      // completed
	locks   locks
	queue   *queue
	runs    atomic.Bool // Run is under way

	mu       sync.Mutex
	outcomes map[string]*outcomes // by object
}

// NewRunner returns a Runner of the engine. Nil options mean the defaults. The
// error says what the engine lacks.
func NewRunner[S, W any, A Action, B Blocker](engine Engine[S, W, A, B], options *RunnerOptions) (*Runner[S, W, A, B], error) {
	if err := engine.check(); err != nil {
		return nil, err
	}
	if engine.MaxOutcomes <= 0 {
		engine.MaxOutcomes = 500
	}
	var o RunnerOptions
	if options != nil {
		o = *options
	}
	if o.Store == nil {
		o.Store = new(MemStore)
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Trace == nil {
		o.Trace = new(Trace)
	}
	o.Workers = positive(o.Workers, 4)
	o.Burst = positive(o.Burst, 1)
	o.MinRetry = positive(o.MinRetry, time.Second)
	o.MaxRetry = max(positive(o.MaxRetry, time.Minute), o.MinRetry)
	if o.Grace == 0 {
		o.Grace = 30 * time.Second
	}
	r := &Runner[S, W, A, B]{engine: engine, options: o, queue: newQueue(&o), outcomes: make(map[string]*outcomes)}
	r.batch, _ = engine.Backend.(BatchBackend[W, A])
	return r, nil
}

func positive[T int | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// Reconcile makes one pass over the object, now. It returns the decision that
// was saved, and the joined errors of all actions that failed. If an error
// occurs before the actions, the decision is zero. It waits if a pass over the
// same object is in progress.
func (r *Runner[S, W, A, B]) Reconcile(ctx context.Context, name string) (Decision[S, A, B], error) {
	d, err := r.reconcile(ctx, ctx, name)
	if err == nil && r.runs.Load() {
		r.queue.remind(name, d.Wake)
	}
	return d, err
}

// Preview returns what a pass would decide now. It saves and applies nothing.
func (r *Runner[S, W, A, B]) Preview(ctx context.Context, name string) (d Decision[S, A, B], err error) {
	call := ""
	defer r.explain(name, &call, &err)
	p, err := r.decide(ctx, name, &call)
	return p.Decision, err
}

// State returns the saved state of the object, the zero S when there is none.
func (r *Runner[S, W, A, B]) State(ctx context.Context, name string) (S, error) {
	l, err := r.load(ctx, name)
	return l.state, err
}

// maxConflicts bounds how often a pass begins again because others change the
// state. After that it fails, and is retried like any other.
const maxConflicts = 10

// reconcile is Reconcile. When ctx ends, nothing new begins; acts is the context
// of calls in progress.
func (r *Runner[S, W, A, B]) reconcile(ctx, acts context.Context, name string) (d Decision[S, A, B], err error) {
	unlock, err := r.locks.lock(ctx, name)
	if err != nil {
		return d, err
	}
	defer unlock()
	if f := r.options.Trace.Begin; f != nil {
		f(name)
	}
	if f := r.options.Trace.End; f != nil {
		defer func() {
			f(name, Pass{Actions: len(d.Actions), Blocked: d.Blocks(), Wake: d.Wake, Err: err})
		}()
	}
	call := ""
	defer r.explain(name, &call, &err)
	for range maxConflicts {
		if d, err = r.pass(ctx, acts, name, &call); !errors.Is(err, errStale) {
			return d, err
		}
		if f := r.options.Trace.Conflict; f != nil {
			f(name)
		}
	}
	return d, err
}

// errStale says that somebody else changed the state since it was read. It is an
// error of its own so that a conflict reported by a backend is not mistaken for
// it.
var errStale = errors.New("state changed by another runner")

// proposal is a decision that was not saved yet.
type proposal[S any, A Action, B Blocker] struct {
	Decision[S, A, B]
	loaded  loaded[S] // what it was decided on
	soonest time.Time // when the next unrequested pass may begin
}

// decide loads, observes and steps. It sets call to what it is doing.
func (r *Runner[S, W, A, B]) decide(ctx context.Context, name string, call *string) (p proposal[S, A, B], err error) {
	*call = "load"
	if p.loaded, err = r.load(ctx, name); err != nil {
		return p, err
	}
	*call = "observe"
	world, err := r.engine.Backend.Observe(ctx, name)
	if err != nil {
		return p, err
	}
	if f := r.engine.Outcomes; f != nil {
		var known []Outcome
		r.mu.Lock()
		if all := r.outcomes[name]; all != nil {
			known = all.share()
		}
		r.mu.Unlock()
		world = f(world, known)
	}
	*call = "step"
	now := r.now()
	p.Decision = r.engine.Step(p.loaded.state, world, now)
	p.soonest = now.Add(r.options.MinRetry)
	if spins := !p.Wake.IsZero() && !p.Wake.After(now); spins {
		p.Wake = p.soonest
	}
	return p, nil
}

// pass decides, saves and applies.
func (r *Runner[S, W, A, B]) pass(ctx, acts context.Context, name string, call *string) (none Decision[S, A, B], err error) {
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

// apply carries out actions. It continues after a failure.
func (r *Runner[S, W, A, B]) apply(ctx, acts context.Context, name string, actions []A) error {
	if r.batch != nil && len(actions) > 0 {
		return r.applyAll(acts, name, actions)
	}
	var failed []error
	for _, a := range actions {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(failed, err)...)
		}
		err := protect("apply", func() error { return r.engine.Backend.Apply(acts, name, a) })
		if err != nil {
			failed = append(failed, err)
		}
		r.applied(name, a, err)
	}
	return errors.Join(failed...)
}

// applyAll carries out actions at once.
func (r *Runner[S, W, A, B]) applyAll(acts context.Context, name string, actions []A) error {
	var errs []error
	panicked := protect("apply", func() error {
		errs = r.batch.ApplyAll(acts, name, actions)
		return nil
	})
	failed := panicked
	for i, a := range actions {
		err := panicked
		if i < len(errs) && panicked == nil {
			err = errs[i]
			failed = errors.Join(failed, err)
		}
		r.applied(name, a, err)
	}
	return failed
}

// applied reports an action that was carried out, and remembers its result.
func (r *Runner[S, W, A, B]) applied(name string, action A, err error) {
	if r.engine.Outcomes != nil {
		o := OutcomeOf(action.Key(), err, r.now())
		r.mu.Lock()
		all := r.outcomes[name]
		if all == nil {
			all = new(outcomes)
			r.outcomes[name] = all
		}
		if all.add(o, o.Failed || r.engine.Successes, r.engine.MaxOutcomes); len(all.list) == 0 {
			delete(r.outcomes, name)
		}
		r.mu.Unlock()
	}
	if f := r.options.Trace.Applied; f != nil {
		f(name, action, err)
	}
}

// now returns the time in the form that engines get.
func (r *Runner[S, W, A, B]) now() time.Time { return r.options.Clock.Now().Round(0).UTC() }

// explain turns a panic into an error, and adds to an error what it is about.
func (r *Runner[S, W, A, B]) explain(name string, call *string, err *error) {
	if v := recover(); v != nil {
		*err = newPanic(*call, v)
	}
	var version *VersionError
	if *err != nil && !errors.As(*err, &version) { // which names engine and object itself
		*err = fmt.Errorf("%s %s: %s: %w", r.engine.Name, name, *call, *err)
	}
}
