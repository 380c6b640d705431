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

// Pass is one pass of an engine's Runner over the object of the name: what was
// decided, as every engine decides, and Err for what failed. A Runner's
// Reconcile gives all of it.
type Pass func(ctx context.Context, name string) fairlead.Pass

// Reconciler makes a controller-runtime reconciler of an engine.
//
//  1. The request's namespace and name are the name of the object, unless Name
//     says otherwise.
//  2. The pass's Wake becomes RequeueAfter. A pass that acted and has no Wake, or
//     one that is not in the future, is repeated after MinRetry, so that what
//     was done is looked at.
//  3. A pass that failed is repeated as the controller's rate limiter says, see
//     [Options]; what is due meanwhile waits for that. A [*fairlead.VersionError],
//     which no repetition fixes, is not repeated.
//  4. Report is told of each pass.
//  5. Passes over one object are MinInterval apart, from the end of one to the
//     beginning of the next: what happens meanwhile is looked at together.
//  6. Where several processes share the objects, a pass is made only over those
//     that are this process's; see [WithOwner].
//
// Controller-runtime turns a panic into an error.
type Reconciler struct {
	Pass        Pass                                                    // the engine
	Name        func(reconcile.Request) string                          // nil means "namespace/name"
	Report      func(ctx context.Context, name string, p fairlead.Pass) // nil for nobody
	Clock       fairlead.Clock                                          // nil means [fairlead.SystemClock]
	MinRetry    time.Duration                                           // zero means a second
	MinInterval time.Duration                                           // zero means that a pass may follow at once

	mu    sync.Mutex
	ended map[string]time.Time // by object: the last pass, where that was not long ago
}

// Reconcile is one pass.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	name := requestName(req)
	if r.Name != nil {
		name = r.Name(req)
	}
	if o, shared := ctx.Value(ownerKey{}).(Owner); shared {
		held, done, mine := o.Begin(ctx, name)
		if !mine {
			return reconcile.Result{}, nil // whoever owns it watches, too
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
		return reconcile.Result{}, nil // what failed, failed for that
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

// Owner says which objects are this process's, where several share them: package
// kube/shard has one.
type Owner interface {
	// Begin returns the context for a pass over the object, which ends with the
	// cause NotOwnerError before another process may begin one, and what to call at
	// the end of the pass. mine is false if the object is another process's.
	Begin(ctx context.Context, name string) (held context.Context, done func(), mine bool)
}

// NotOwnerError is the cause of a context's end when the object is, or may soon
// be, another process's.
type NotOwnerError struct{}

// Error says so.
func (NotOwnerError) Error() string { return "another process owns the object now" }

type ownerKey struct{}

// WithOwner returns a context in which a Reconciler makes passes over the objects
// of the owner alone.
func WithOwner(ctx context.Context, o Owner) context.Context {
	return context.WithValue(ctx, ownerKey{}, o)
}

// now is the time by the clock.
func (r *Reconciler) now() time.Time {
	if r.Clock == nil {
		return fairlead.SystemClock{}.Now()
	}
	return r.Clock.Now()
}

// early is by how much a pass over an object would come too early.
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

// end notes the end of a pass. What is no longer of use is forgotten now and then.
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

// after is how long to wait for the next pass, zero for an event.
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

// RequestOf is the request of the object of a name, "namespace/name" or "name".
func RequestOf(name string) reconcile.Request {
	namespace, name := SplitName(name)
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// SplitName takes "namespace/name" apart; what has no slash has no namespace.
func SplitName(full string) (namespace, name string) {
	if namespace, name, ok := strings.Cut(full, "/"); ok {
		return namespace, name
	}
	return "", full
}

const (
	// Settle is the MinInterval of adapters that read from the server in each pass.
	Settle = time.Second
	// Patience is that of the Events of adapters.
	Patience = 10 * time.Second
)

// Options are the controller's for an engine: workers passes at a time, and a
// pass that fails is repeated after a second, then after twice as long each
// time, up to fifteen seconds: so late is what is due when a server comes back.
func Options(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, 15*time.Second),
	}
}
