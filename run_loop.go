package fairlead

import (
	"context"
	"fmt"
	"sync"
)

// Trigger requests a pass over the object, because its world may have changed.
// It never blocks. Triggers from before Run are kept.
func (r *Runner[S, W, A, B]) Trigger(name string) { r.queue.trigger(name) }

// Run makes passes as they fall due until ctx ends, and then returns nil. It
// returns an error if the states in the Store cannot be listed, or waiting on
// the Clock fails. Only one Run may be in progress at a time.
func (r *Runner[S, W, A, B]) Run(ctx context.Context) error {
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, r.queue.wakeAll)()
	acts, end := r.graceful(ctx)
	defer end()

	var workers sync.WaitGroup
	for range r.options.Workers {
		workers.Go(func() {
			for {
				name, ok := r.queue.take(ctx)
				if !ok {
					return
				}
				began := r.now()
				d, err := r.reconcile(ctx, acts, name)
				r.queue.done(name, began, d.Wake, err)
			}
		})
	}
	err := r.queue.tick(ctx)
	cancel()
	workers.Wait()
	if err != nil {
		return fmt.Errorf("%s: %w", r.engine.Name, err)
	}
	return nil
}

// resume plans a pass for every object that has state.
func (r *Runner[S, W, A, B]) resume(ctx context.Context) error {
	for rec, err := range r.options.Store.List(ctx, prefix(r.engine.Name)) {
		if err != nil {
			return err
		}
		e, err := decodeEnvelope(rec)
		if err != nil {
			return err
		}
		r.queue.trigger(e.Name)
	}
	return nil
}

// graceful returns a context that ends a grace period after ctx does.
func (r *Runner[S, W, A, B]) graceful(ctx context.Context) (acts context.Context, end func()) {
	acts, end = context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		defer end()
		if r.options.Grace > 0 {
			_ = sleep(acts, r.options.Clock, r.options.Grace) // ended early: all calls are finished
		}
	})
	return acts, end
}
