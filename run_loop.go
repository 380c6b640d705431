package fairlead

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Trigger requests a pass over the object, because its world may have changed.
// It never blocks. Triggers from before Run are kept.
func (r *Runner[S, W, A]) Trigger(name string) { r.queue.trigger(name) }

// Run makes passes as they fall due until ctx ends, and then returns nil. It
// returns an error if the states in the Store cannot be listed, if the Store
// cannot be used any more ([ErrUnusable]), or if waiting on the Clock fails. A key
// that does not hold a state is reported to Trace.Skipped. Only one Run may be in
// progress at a time.
func (r *Runner[S, W, A]) Run(ctx context.Context) error {
	if !r.runs.CompareAndSwap(false, true) {
		return fmt.Errorf("%s: Run is already in progress: call it once", r.engine.Name)
	}
	defer r.runs.Store(false)
	if err := r.resume(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("%s: resume: %w", r.engine.Name, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, r.queue.wakeAll)()
	acts, end := r.graceful(ctx)
	defer end()

	var workers sync.WaitGroup
	var worker func()
	worker = func() {
		for {
			name, ok := r.queue.take(ctx)
			if !ok || !r.turn(ctx, acts, name, cancel, func() { workers.Go(worker) }) {
				return
			}
		}
	}
	for range r.options.Workers {
		workers.Go(worker)
	}
	err := r.queue.tick(ctx)
	cancel(err)
	workers.Wait()
	if cause := context.Cause(ctx); errors.Is(cause, ErrUnusable) {
		err = cause
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.engine.Name, err)
	}
	return nil
}

// turn makes the pass that a worker has taken. If a call of it takes too long,
// replace is called for another worker to continue, and turn returns false once
// the call has returned. It ends everything if the Store cannot be used any more.
func (r *Runner[S, W, A]) turn(ctx, acts context.Context, name string, end context.CancelCauseFunc, replace func()) bool {
	began := r.now()
	replaced := make(chan struct{})
	d, err := r.reconcile(ctx, acts, name, func(stuck error) {
		defer close(replaced)
		r.queue.done(name, began, time.Time{}, stuck)
		replace()
	})
	if errors.Is(err, ErrUnusable) {
		end(err)
	}
	select {
	case <-replaced:
		r.queue.trigger(name)
		return false
	default:
		r.queue.done(name, began, d.Wake, err)
		return true
	}
}

// Sweep makes a pass over each object that has state in the Store and for which
// exists returns false, in the order of keys: so that engines find out that an object
// is gone, and its state is deleted. It is for those who call Reconcile and not Run,
// whose own source of events may have missed a deletion. It returns how many
// passes it made, and the joined errors of those that failed. A key that does not
// hold a state is reported to Trace.Skipped.
func (r *Runner[S, W, A]) Sweep(ctx context.Context, exists func(name string) bool) (passes int, err error) {
	var gone []string
	err = r.stored(ctx, func(name string) {
		if !exists(name) {
			gone = append(gone, name)
		}
	})
	if err != nil {
		return 0, fmt.Errorf("%s: sweep: %w", r.engine.Name, err)
	}
	var failed []error
	for _, name := range gone {
		if err := ctx.Err(); err != nil {
			return passes, errors.Join(append(failed, err)...)
		}
		passes++
		if _, err := r.Reconcile(ctx, name); err != nil {
			failed = append(failed, err)
		}
	}
	return passes, errors.Join(failed...)
}

// resume plans a pass for every object that has state.
func (r *Runner[S, W, A]) resume(ctx context.Context) error {
	return r.stored(ctx, r.queue.trigger)
}

// stored calls f with the name of each object that has state.
func (r *Runner[S, W, A]) stored(ctx context.Context, f func(name string)) error {
	for rec, err := range r.options.Store.List(ctx, prefix(r.engine.Name)) {
		if err != nil {
			return err
		}
		e, err := decodeEnvelope(rec)
		if err == nil {
			f(e.Name)
		} else if skipped := r.options.Trace.Skipped; skipped != nil {
			skipped(rec.Key, err)
		}
	}
	return nil
}

// graceful returns a context that ends a grace period after ctx does.
func (r *Runner[S, W, A]) graceful(ctx context.Context) (acts context.Context, end func()) {
	acts, end = context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		defer end()
		if r.options.Grace > 0 {
			_ = sleep(acts, r.options.Clock, r.options.Grace) // ended early: all calls are finished
		}
	})
	return acts, end
}
