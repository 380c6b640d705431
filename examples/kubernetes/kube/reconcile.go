package kube

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Pass is one pass of an engine's Runner over the object with the name: what
// was decided, in the form common to all engines, and Err if it failed. A
// Runner's Reconcile returns all of it.
type Pass func(ctx context.Context, name string) fairlead.Pass

// Reconciler turns an engine into a controller-runtime reconciler.
//
//  1. The request's namespace and name are the name of the object, unless Name
//     says otherwise.
//  2. The pass's Wake becomes RequeueAfter. A pass that acted and has no Wake, or
//     one that is not in the future, is repeated after MinRetry, so that the
//     effect of its actions is observed.
//  3. A failed pass is retried according to the controller's rate limiter, see
//     [Options]; anything that is due meanwhile waits for the retry. A
//     [*fairlead.VersionError], which no retry fixes, is not retried.
//  4. Report is called after each pass.
//  5. Passes over one object are MinInterval apart, from the end of one to the
//     beginning of the next: changes in between are handled together.
//  6. Where several processes share the objects, passes are made only over
//     those that this process owns; see [WithOwner].
//
// Controller-runtime turns a panic into an error.
type Reconciler struct {
	Pass        Pass                                                    // the engine
	Name        func(reconcile.Request) string                          // nil means "namespace/name"
	Report      func(ctx context.Context, name string, p fairlead.Pass) // nil means no reports
	Clock       fairlead.Clock                                          // nil means [fairlead.SystemClock]
	MinRetry    time.Duration                                           // zero means a second
	MinInterval time.Duration                                           // zero means that the next pass may follow at once

	mu    sync.Mutex
	ended map[string]time.Time // by object: the end of the last pass, if recent
}

// Reconcile makes one pass.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	name := requestName(req)
	if r.Name != nil {
		name = r.Name(req)
	}
	if o, shared := ctx.Value(ownerKey{}).(Owner); shared {
		held, done, mine := o.Begin(ctx, name)
		if !mine {
			return reconcile.Result{}, nil // its owner also watches it
		}
		defer done()
		ctx = held
	}
	if early := r.early(name); early > 0 {
		return reconcile.Result{RequeueAfter: early}, nil
	}
	p := r.Pass(ctx, name)
	r.end(name)
	if errors.Is(context.Cause(ctx), NotOwnerError{}) {
		return reconcile.Result{}, nil // that is why it failed
	}
	if r.Report != nil {
		r.Report(ctx, name, p)
	}
	var newer *fairlead.VersionError
	if errors.As(p.Err, &newer) {
		return reconcile.Result{}, reconcile.TerminalError(p.Err)
	}
	if p.Err != nil {
		return reconcile.Result{}, p.Err
	}
	return reconcile.Result{RequeueAfter: r.after(p)}, nil
}

// Owner tells which objects this process owns, where several processes share
// them. Package kube/shard has an implementation.
type Owner interface {
	// Begin returns the context for a pass over the object, and a function to call
	// at the end of the pass. The context ends with the cause NotOwnerError before
	// another process may begin a pass. mine is false if another process owns the
	// object.
	Begin(ctx context.Context, name string) (held context.Context, done func(), mine bool)
}

// NotOwnerError is the cause of a context's end when another process owns the
// object, or may own it soon.
type NotOwnerError struct{}

// Error reports that another process owns the object.
func (NotOwnerError) Error() string { return "another process owns the object now" }

type ownerKey struct{}

// WithOwner returns a context in which a Reconciler makes passes only over
// objects of the owner.
func WithOwner(ctx context.Context, o Owner) context.Context {
	return context.WithValue(ctx, ownerKey{}, o)
}

// now returns the time of the clock.
func (r *Reconciler) now() time.Time {
	if r.Clock == nil {
		return fairlead.SystemClock{}.Now()
	}
	return r.Clock.Now()
}

// early returns by how much a pass over an object would be too early.
func (r *Reconciler) early(name string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.ended[name]
	passed := r.now().Sub(last)
	if !known || passed < 0 {
		return 0
	}
	return r.MinInterval - passed
}

// end records the end of a pass. Records that are no longer needed are dropped
// from time to time.
func (r *Reconciler) end(name string) {
	if r.MinInterval <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if len(r.ended) >= 1000 {
		maps.DeleteFunc(r.ended, func(_ string, last time.Time) bool { return now.Sub(last) >= r.MinInterval })
	}
	if r.ended == nil {
		r.ended = map[string]time.Time{}
	}
	r.ended[name] = now
}

// after returns how long to wait before the next pass; zero means until the
// next event.
func (r *Reconciler) after(p fairlead.Pass) time.Duration {
	least := r.MinRetry
	if least == 0 {
		least = time.Second
	}
	if p.Wake.IsZero() {
		if p.Actions == 0 {
			return 0
		}
		return least
	}
	return max(p.Wake.Sub(r.now()), least)
}

func requestName(req reconcile.Request) string {
	if req.Namespace == "" {
		return req.Name
	}
	return req.Namespace + "/" + req.Name
}

// RequestOf returns the request for the object with a name, "namespace/name" or
// "name".
func RequestOf(name string) reconcile.Request {
	namespace, name := SplitName(name)
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// SplitName splits "namespace/name"; without a slash there is no namespace.
func SplitName(full string) (namespace, name string) {
	if namespace, name, ok := strings.Cut(full, "/"); ok {
		return namespace, name
	}
	return "", full
}

const (
	// Settle is the MinInterval of controllers that read from the server in
	// each pass.
	Settle = time.Second
	// Patience is that of the Events of all controllers.
	Patience = 10 * time.Second
)

// Options returns the controller options for an engine: workers passes at a
// time, and a failed pass is retried after one second, then after twice as long
// each time, up to fifteen seconds. That is also the longest delay of due
// actions after a server comes back.
func Options(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, 15*time.Second),
	}
}
