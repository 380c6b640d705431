package drain

import (
	"context"
	"fmt"
	"reflect"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/lifecycle/drain"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Options configures the controller.
type Options struct {
	// Policy is that of the engine; nil means the zero policy.
	Policy *drain.Policy
	// Store keeps the state; see [kube.Store]. It is required: the record of which
	// nodes were cordoned here must outlive the process.
	Store fairlead.Store
	// Facts adds facts that only you know; see [Backend].
	Facts func(ctx context.Context, w *drain.World) error
	// Trace is called as things happen, see [kube.Metrics]; it may be nil.
	Trace *fairlead.Trace
	// Clock is the clock; nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// Workers is how many nodes are handled concurrently. Zero means 4.
	Workers int
	// Client reads and writes, without a cache. Nil means that
	// SetupWithManager creates one from the manager's configuration.
	Client client.Client
}

// SetupWithManager adds the controller to a manager. It runs while the manager
// leads. Passes over a node are triggered by changes of its requests and, while
// it has any, of the node, its pods and all disruption budgets. Cordoned nodes
// also get a pass at the start, because their requests may have been deleted
// meanwhile. The error of Policy.Check is returned.
func SetupWithManager(mgr ctrl.Manager, opts Options) error {
	if opts.Store == nil {
		return fmt.Errorf("kube/drain: no Store: give it one that outlives the process, such as a kube.Store")
	}
	if opts.Client == nil {
		c, err := kube.Direct(mgr)
		if err != nil {
			return err
		}
		opts.Client = c
	}
	backend := &Backend{Client: opts.Client, Cache: mgr.GetCache(), Namespaces: nodes.NeedsNamespaces(opts.Policy), Facts: opts.Facts}
	runner, err := drain.NewRunner(backend, opts.Policy, &fairlead.RunnerOptions{Store: opts.Store, Clock: opts.Clock, Trace: opts.Trace})
	if err != nil {
		return err
	}
	request := kube.Stub(Kind, "", "")
	workers := opts.Workers
	if workers == 0 {
		workers = 4
	}
	told := &kube.Events{Patience: kube.Patience, Recorder: mgr.GetEventRecorder("fairlead-drain"), Action: "Drain", Object: func(ctx context.Context, name string) runtime.Object {
		var n corev1.Node
		if mgr.GetCache().Get(ctx, client.ObjectKey{Name: name}, &n) != nil {
			return nil
		}
		return &n
	}}
	enqueue := &enqueuer{cache: mgr.GetCache()}
	return ctrl.NewControllerManagedBy(mgr).Named("fairlead-drain").
		Watches(request, handler.EnqueueRequestsFromMapFunc(ofRequest), builder.WithPredicates(predicate.Funcs{UpdateFunc: requestMatters})).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(enqueue.ofNode), builder.WithPredicates(kube.Decisive())).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(enqueue.ofPod), builder.WithPredicates(kube.Decisive())).
		Watches(&policyv1.PodDisruptionBudget{}, handler.EnqueueRequestsFromMapFunc(enqueue.all), builder.WithPredicates(kube.Decisive())).
		WatchesRawSource(kube.Swept(mgr.GetCache(), runner.Sweep, func(name string) client.Object { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} })).
		WithOptions(kube.Options(workers)).
		Complete(&kube.Reconciler{
			MinInterval: kube.Settle,
			Clock:       opts.Clock,
			Report:      told.Report,
			Pass: func(ctx context.Context, name string) fairlead.Pass {
				d, err := runner.Reconcile(ctx, name)
				return fairlead.Pass{Actions: len(d.Actions), Blocked: d.Blocks(), Wake: d.Wake, Err: err}
			},
		})
}

// requestMatters reports whether a change of a request may change a decision. One that
// cannot be read is reported by the pass.
func requestMatters(e event.UpdateEvent) bool {
	o, is := e.ObjectOld.(*unstructured.Unstructured)
	n, too := e.ObjectNew.(*unstructured.Unstructured)
	if !is || !too {
		return true
	}
	old, oldSpec, failed := requestOf(o)
	next, spec, err := requestOf(n)
	return failed != nil || err != nil || !reflect.DeepEqual(old, next) || !reflect.DeepEqual(oldSpec, spec)
}

// ofRequest returns the node of a request.
func ofRequest(_ context.Context, o client.Object) []reconcile.Request {
	if u, ok := o.(*unstructured.Unstructured); ok && nodeOf(u) != "" {
		return []reconcile.Request{kube.RequestOf(nodeOf(u))}
	}
	return nil
}

// enqueuer maps events to nodes.
type enqueuer struct{ cache client.Reader }

// ofNode returns the node itself, if it has requests, or may have had some.
func (e *enqueuer) ofNode(ctx context.Context, o client.Object) []reconcile.Request {
	if n, ok := o.(*corev1.Node); ok && n.Spec.Unschedulable {
		return []reconcile.Request{kube.RequestOf(n.Name)}
	}
	return e.named(ctx, o.GetName())
}

func (e *enqueuer) ofPod(ctx context.Context, o client.Object) []reconcile.Request {
	if p, ok := o.(*corev1.Pod); ok && p.Spec.NodeName != "" {
		return e.named(ctx, p.Spec.NodeName)
	}
	return nil
}

func (e *enqueuer) all(ctx context.Context, _ client.Object) []reconcile.Request {
	return e.named(ctx, "")
}

// named returns the nodes with requests: the one with the name, or all if it is
// "".
func (e *enqueuer) named(ctx context.Context, name string) []reconcile.Request {
	list := kube.ListOf(Kind)
	if err := e.cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "drain requests", "node", name)
		return nil
	}
	var all []reconcile.Request
	seen := map[string]bool{}
	for i := range list.Items {
		if node := nodeOf(&list.Items[i]); node != "" && !seen[node] && (name == "" || name == node) {
			seen[node] = true
			all = append(all, kube.RequestOf(node))
		}
	}
	return all
}
