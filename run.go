package fairlead

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Runner drives an [Engine], with the guarantees listed at [RunnerOptions]. Its
// methods may be called from several goroutines.
type Runner[S, W any, A Action] struct {
	engine  Engine[S, W, A]
	batch   BatchBackend[W, A] // the engine's Backend, nil if it is not one
	options RunnerOptions      // completed
	locks   locks
	queue   *queue
	runs    atomic.Bool // Run is under way

	mu       sync.Mutex
	outcomes map[string]*outcomes // by object
	waits    map[string][]Block   // of the last pass, by object; kept for Trace.Waits
}

// NewRunner returns a Runner of the engine. Nil options mean the defaults. The
// error says what the engine lacks.
func NewRunner[S, W any, A Action](engine Engine[S, W, A], options *RunnerOptions) (*Runner[S, W, A], error) {
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
	if o.CallTimeout == 0 {
		o.CallTimeout = 15 * time.Minute
	}
	r := &Runner[S, W, A]{
		engine: engine, options: o, queue: newQueue(&o),
		outcomes: make(map[string]*outcomes), waits: make(map[string][]Block),
	}
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
// same object is in progress, unless that is stuck: see [StuckError].
func (r *Runner[S, W, A]) Reconcile(ctx context.Context, name string) (Decision[S, A], error) {
	d, err := r.reconcile(ctx, ctx, name, nil)
	if err == nil && r.runs.Load() {
		r.queue.remind(name, d.Wake)
	}
	return d, err
}

// Preview returns what a pass would decide now. It saves and applies nothing.
func (r *Runner[S, W, A]) Preview(ctx context.Context, name string) (d Decision[S, A], err error) {
	var w watch
	defer r.explain(name, &w, &err)
	p, err := r.decide(ctx, name, &w)
	return p.Decision, err
}

// State returns the saved state of the object, the zero S when there is none.
func (r *Runner[S, W, A]) State(ctx context.Context, name string) (S, error) {
	l, err := r.load(ctx, name)
	return l.state, err
}

// maxConflicts bounds how often a pass begins again because others change the
// state. After that it fails, and is retried like any other.
const maxConflicts = 10

// reconcile is Reconcile. When ctx ends, nothing new begins; acts is the context
// of calls in progress. If a call takes too long, the pass is over for those who
// watch, and stuck is called if it is not nil; reconcile itself returns when the
// call does.
func (r *Runner[S, W, A]) reconcile(ctx, acts context.Context, name string, stuck func(error)) (d Decision[S, A], err error) {
	h, err := r.locks.lock(ctx, name)
	if err != nil {
		return d, err
	}
	defer r.locks.unlock(name, h)
	if f := r.options.Trace.Begin; f != nil {
		f(name)
	}
	acts, end := context.WithCancel(acts)
	defer end()
	w := &h.watch
	w.limit = r.options.CallTimeout
	w.fire = func() {
		w.expire(func(late *StuckError) {
			end()
			err := r.about(name, late.Call, late)
			r.ended(name, Decision[S, A]{}, err)
			r.locks.stick(name, err)
			if stuck != nil {
				stuck(err)
			}
		})
	}
	d, err = r.passes(ctx, acts, name, w)
	if late := w.end(); !late {
		r.ended(name, d, err)
	}
	return d, err
}

// ended reports that a pass is over.
func (r *Runner[S, W, A]) ended(name string, d Decision[S, A], err error) {
	t := r.options.Trace
	if t.End == nil && t.Waits == nil {
		return
	}
	blocked := append(d.Blocks(), waitOf(name, err)...)
	if t.End != nil {
		t.End(name, Pass{Engine: r.engine.Name, Actions: len(d.Actions), Blocked: blocked, Wake: d.Wake, Err: err})
	}
	if err == nil || len(blocked) > 0 || len(d.Actions) > 0 { // else nothing is known of its waits
		r.traceWaits(name, blocked)
	}
}

// waitOf returns the wait of an object that an error of the Runner's own means.
func waitOf(name string, err error) []Block {
	var stuck *StuckError
	var limit *LimitError
	switch {
	case errors.As(err, &stuck):
		return []Block{{Subject: name, Reason: "CallStuck", Message: stuck.Error(), Owner: "the backend", Unblock: "make the backend return when its context ends"}}
	case errors.As(err, &limit):
		return []Block{{Subject: name, Reason: "StateTooLarge", Message: limit.Error(), Owner: "the engine", Unblock: "let the engine keep less, or split the object"}}
	}
	return nil
}

// passes makes a pass, again as long as others change the state meanwhile.
func (r *Runner[S, W, A]) passes(ctx, acts context.Context, name string, w *watch) (d Decision[S, A], err error) {
	defer r.explain(name, w, &err)
	for range maxConflicts {
		if d, err = r.pass(ctx, acts, name, w); !errors.Is(err, errStale) {
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
type proposal[S any, A Action] struct {
	Decision[S, A]
	loaded  loaded[S] // what it was decided on
	soonest time.Time // when the next unrequested pass may begin
}

// decide loads, observes and steps. It tells w what it is doing.
func (r *Runner[S, W, A]) decide(ctx context.Context, name string, w *watch) (p proposal[S, A], err error) {
	w.begin("load")
	if p.loaded, err = r.load(ctx, name); err != nil {
		return p, err
	}
	w.begin("observe")
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
	w.begin("step")
	now := r.now()
	p.Decision = r.engine.Step(p.loaded.state, world, now)
	p.soonest = now.Add(r.options.MinRetry)
	if spins := !p.Wake.IsZero() && !p.Wake.After(now); spins {
		p.Wake = p.soonest
	}
	return p, nil
}

// pass decides, saves and applies.
func (r *Runner[S, W, A]) pass(ctx, acts context.Context, name string, w *watch) (none Decision[S, A], err error) {
	p, err := r.decide(acts, name, w)
	if err != nil {
		return none, err
	}
	if err := cmp.Or(ctx.Err(), acts.Err()); err != nil {
		return none, err
	}
	w.begin("save")
	rev, err := r.save(acts, name, p)
	if err != nil {
		return none, err
	}
	if err := r.apply(ctx, acts, name, p.Actions, w); err != nil {
		return p.Decision, err
	}
	if unseen := p.Wake.IsZero() && len(p.Actions) > 0; unseen {
		p.Wake = p.soonest
	}
	w.begin("delete the state")
	err = r.finish(acts, name, p, rev)
	if err == nil && len(p.Actions) == 0 && r.done(p.State) {
		r.forget(name)
	}
	return p.Decision, err
}

// apply carries out actions. It continues after a failure.
func (r *Runner[S, W, A]) apply(ctx, acts context.Context, name string, actions []A, w *watch) error {
	w.begin("apply")
	if r.batch != nil && len(actions) > 0 {
		return r.applyAll(acts, name, actions, w)
	}
	var failed []error
	for _, a := range actions {
		if err := cmp.Or(ctx.Err(), acts.Err()); err != nil {
			return errors.Join(append(failed, err)...)
		}
		err := protect("apply", func() error { return r.engine.Backend.Apply(acts, name, a) })
		w.begin("apply") // it has returned
		if err != nil {
			failed = append(failed, err)
		}
		r.applied(name, a, err)
	}
	return errors.Join(failed...)
}

// applyAll carries out actions at once.
func (r *Runner[S, W, A]) applyAll(acts context.Context, name string, actions []A, w *watch) error {
	var errs []error
	panicked := protect("apply", func() error {
		errs = r.batch.ApplyAll(acts, name, actions)
		return nil
	})
	w.begin("apply") // it has returned
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
func (r *Runner[S, W, A]) applied(name string, action A, err error) {
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

// forget drops the results of attempts for an object that needs no state.
func (r *Runner[S, W, A]) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.outcomes, name)
}

// now returns the time in the form that engines get.
func (r *Runner[S, W, A]) now() time.Time { return r.options.Clock.Now().Round(0).UTC() }

// explain turns a panic into an error, and adds to an error what it is about.
func (r *Runner[S, W, A]) explain(name string, w *watch, err *error) {
	if v := recover(); v != nil {
		*err = newPanic(w.now(), v)
	}
	if *err != nil {
		*err = r.about(name, w.now(), *err)
	}
}

// about adds to an error the engine, the object and the call.
func (r *Runner[S, W, A]) about(name, call string, err error) error {
	var version *VersionError
	if errors.As(err, &version) { // which names engine and object itself
		return err
	}
	return fmt.Errorf("%s %s: %s: %w", r.engine.Name, name, call, err)
}
