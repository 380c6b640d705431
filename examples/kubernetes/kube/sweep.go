package kube

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// SweepEvery is how often controllers look for the states of objects that are gone. Each
// time takes at most one list of the store.
const SweepEvery = time.Hour

// Sweep is the method Sweep of an engine's Runner.
type Sweep func(ctx context.Context, exists func(name string) bool) (passes int, err error)

// Swept returns a source of events about objects that have state and are gone: their
// deletion may have been missed while no process ran, and nothing else would ever cause the
// pass that deletes their state. It looks at the start, once the cache is complete, and then
// every [SweepEvery]. object returns an empty object of the kind that the cache watches, with
// the name that the state has. Passes are made by the controller, as for other events.
func Swept(c cache.Cache, sweep Sweep, object func(name string) client.Object) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		gone := func(name string) bool {
			o := object(name)
			if apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(o), o)) {
				queue.Add(RequestOf(name))
			}
			return true // the controller makes the pass, not the Runner
		}
		go func() {
			for c.WaitForCacheSync(ctx) {
				if _, err := sweep(ctx, gone); err != nil && ctx.Err() == nil {
					ctrl.LoggerFrom(ctx).Error(err, "looking for states of objects that are gone")
				}
				select {
				case <-ctx.Done():
					return
				case <-time.After(SweepEvery):
				}
			}
		}()
		return nil
	})
}

// SweptBut makes a manager delete, when it becomes leader, the states of all objects but one, for
// engines with only one, whose name may have been another one before.
func SweptBut(mgr ctrl.Manager, sweep Sweep, name string) error {
	return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if _, err := sweep(ctx, func(of string) bool { return of == name }); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "deleting the states of other names")
		}
		return nil
	}))
}
