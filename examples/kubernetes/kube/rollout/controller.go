package rollout

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Options configures the controllers.
type Options struct {
	// Policy is that of the engine; nil means the zero policy.
	Policy *rollout.Policy
	// Store keeps the state; see [kube.Store]. It is required: the choice of nodes
	// must outlive the process.
	Store fairlead.Store
	// Last is the name of the node that this process runs on; see [Backend].
	Last string
	// Trace is called as things happen, see [kube.Metrics]; it may be nil.
	Trace *fairlead.Trace
	// Clock is the clock; nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// Client reads and writes, without a cache. Nil means that
	// SetupWithManager creates one from the manager's configuration.
	Client client.Client
}

// SetupWithManager adds two controllers to a manager, which run while it leads:
// one updates the pools, one at a time, so that pools which share a quorum see
// each other's nodes; the other one serves the requests of nodes in desiredDrain.
// The error of Policy.Check is returned.
func SetupWithManager(mgr ctrl.Manager, opts Options) error {
	if opts.Store == nil {
		return fmt.Errorf("kube/rollout: no Store: give it one that outlives the process, such as a kube.Store")
	}
	if opts.Client == nil {
		c, err := kube.Direct(mgr)
		if err != nil {
			return err
		}
		opts.Client = c
	}
	backend := &Backend{Client: opts.Client, Last: opts.Last}
	runner, err := rollout.NewRunner(backend, opts.Policy, &fairlead.RunnerOptions{Store: opts.Store, Clock: opts.Clock, Trace: opts.Trace})
	if err != nil {
		return err
	}
	pool, request := kube.Stub(Kind, "", ""), kube.Stub(drain.Kind, "", "")
	told := &kube.Events{Patience: kube.Patience, Recorder: mgr.GetEventRecorder("fairlead-rollout"), Action: "RollOut", Object: func(ctx context.Context, name string) runtime.Object {
		u := pool.DeepCopy()
		if mgr.GetCache().Get(ctx, client.ObjectKey{Name: name}, u) != nil {
			return nil
		}
		return u
	}}
	all := func(ctx context.Context, _ client.Object) []reconcile.Request { return pools(ctx, mgr.GetCache()) }
	err = ctrl.NewControllerManagedBy(mgr).Named("fairlead-rollout").
		For(pool).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(all), builder.WithPredicates(kube.Decisive())).
		WatchesRawSource(kube.Swept(mgr.GetCache(), runner.Sweep, func(name string) client.Object { return kube.Stub(Kind, "", name) })).
		WithOptions(kube.Options(1)).
		Complete(&kube.Reconciler{
			MinInterval: kube.Settle,
			Clock:       opts.Clock,
			Report:      told.Report,
			Pass: func(ctx context.Context, name string) fairlead.Pass {
				d, err := runner.Reconcile(ctx, name)
				return fairlead.Pass{Actions: len(d.Actions), Blocked: d.Blocks(), Wake: d.Wake, Err: err}
			},
		})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("fairlead-rollout-drain").
		For(&corev1.Node{}, builder.WithPredicates(predicate.NewPredicateFuncs(asks), kube.Decisive())).
		Watches(request, handler.EnqueueRequestsFromMapFunc(ofRequest)).
		WithOptions(kube.Options(4)).
		Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, backend.Serve(ctx, r.Name)
		}))
}

// asks reports whether a node has a pending request.
func asks(o client.Object) bool {
	wish := o.GetAnnotations()[rollout.AnnotationDesiredDrain]
	return wish != "" && wish != o.GetAnnotations()[rollout.AnnotationLastDrain]
}

// ofRequest returns the node of one of our requests.
func ofRequest(_ context.Context, o client.Object) []reconcile.Request {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	node, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName")
	if by, _, _ := unstructured.NestedString(u.Object, "spec", "requester"); by != Requester || node == "" {
		return nil
	}
	return []reconcile.Request{kube.RequestOf(node)}
}

// pools returns all pools in a cache: labels may move nodes to another one.
func pools(ctx context.Context, cache client.Reader) []reconcile.Request {
	list := kube.ListOf(Kind)
	if err := cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "machine config pools")
		return nil
	}
	var all []reconcile.Request
	for i := range list.Items {
		all = append(all, kube.RequestOf(list.Items[i].GetName()))
	}
	return all
}
