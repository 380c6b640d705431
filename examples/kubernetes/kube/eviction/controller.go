package eviction

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	engine "github.com/fairlead/fairlead/taints/eviction"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Options configures the controllers.
type Options struct {
	// Policy is that of the engine; nil means the zero policy.
	Policy *engine.Policy
	// Store keeps the state; see [kube.Store]. It is required: decided
	// evictions must outlive the process.
	Store fairlead.Store
	// Clock is the clock. Nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// Trace is called as things happen, see [kube.Metrics]; it may be nil.
	Trace *fairlead.Trace
	// Workers is how many nodes are handled concurrently. Zero means 4.
	Workers int
	// Client writes, without a cache. Nil means that SetupWithManager creates
	// one from the manager's configuration.
	Client client.Client
}

// SetupWithManager adds the controllers to a manager: one for nodes and the pods
// on them, and with a Lifecycle in the policy one for all zones. They run while
// the manager leads. Errors of the Policy are returned.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, opts Options) error {
	if opts.Store == nil {
		return fmt.Errorf("kube/eviction: no Store: give it one that outlives the process, such as a kube.Store")
	}
	if opts.Client == nil {
		c, err := kube.Direct(mgr)
		if err != nil {
			return err
		}
		opts.Client = c
	}
	backend := &Backend{Client: opts.Client, Reader: mgr.GetClient()}
	if p := opts.Policy; p != nil {
		backend.Lifecycle, backend.Budgets = p.NodeLifecycle != nil, p.RespectBudgets
	}
	runner, err := engine.NewRunner(backend, opts.Policy, &fairlead.RunnerOptions{Store: opts.Store, Clock: opts.Clock, Trace: opts.Trace})
	if err != nil {
		return err
	}
	if err := IndexPods(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := setupNodes(mgr, runner, backend, &opts); err != nil {
		return err
	}
	if !backend.Lifecycle {
		return nil
	}
	return setupZones(mgr, runner, &opts)
}

// setupNodes sets up the controller for nodes: passes over a node are triggered by
// changes of the node, of its pods, and of disruption budgets in their namespaces.
// Leases are read when the engine wakes: the conditions of a node show when it is back.
func setupNodes(mgr ctrl.Manager, runner *engine.Runner, backend *Backend, opts *Options) error {
	workers := opts.Workers
	if workers == 0 {
		workers = 4
	}
	events := &kube.Events{
		Patience: kube.Patience,
		Recorder: mgr.GetEventRecorder("fairlead-eviction"),
		Action:   "Evict",
		Object: func(ctx context.Context, name string) runtime.Object {
			var n corev1.Node
			if mgr.GetClient().Get(ctx, client.ObjectKey{Name: name}, &n) != nil {
				return nil
			}
			return &n
		},
	}
	b := ctrl.NewControllerManagedBy(mgr).Named("fairlead-eviction").
		For(&corev1.Node{}, builder.WithPredicates(kube.Decisive())).
		Watches(&corev1.Pod{}, podEvents{}, builder.WithPredicates(kube.Decisive())).
		WatchesRawSource(kube.Swept(mgr.GetCache(), runner.Sweep, func(name string) client.Object { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} })).
		WithOptions(kube.Options(workers))
	if backend.Budgets {
		b = b.Watches(&policyv1.PodDisruptionBudget{}, handler.EnqueueRequestsFromMapFunc(nodesOfNamespace(mgr.GetClient())), builder.WithPredicates(kube.Decisive()))
	}
	return b.Complete(&kube.Reconciler{
		Clock:  opts.Clock,
		Report: events.Report,
		Pass: func(ctx context.Context, name string) fairlead.Pass {
			d, err := runner.Reconcile(ctx, name)
			return fairlead.Pass{Actions: len(d.Actions), Blocked: d.Blocked, Wake: d.Wake, Err: err}
		},
	})
}

// setupZones sets up the controller for all zones together: passes are
// triggered by nodes that are added, removed, or changed in a way that matters
// to their zone.
func setupZones(mgr ctrl.Manager, runner *engine.Runner, opts *Options) error {
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{kube.RequestOf(engine.AllZones)}
	})
	return ctrl.NewControllerManagedBy(mgr).Named("fairlead-zones").
		Watches(&corev1.Node{}, all, builder.WithPredicates(predicate.Funcs{UpdateFunc: zoneMatters})).
		WithOptions(kube.Options(1)).
		Complete(&kube.Reconciler{
			Clock: opts.Clock,
			Pass: func(ctx context.Context, _ string) fairlead.Pass {
				d, err := runner.ReconcileZones(ctx)
				return fairlead.Pass{Actions: len(d.Actions), Blocked: d.Blocked, Wake: d.Wake, Err: err}
			},
		})
}

// zoneMatters reports whether a change of a node may change a decision about zones.
func zoneMatters(e event.UpdateEvent) bool {
	o, n := e.ObjectOld.(*corev1.Node), e.ObjectNew.(*corev1.Node)
	return o.UID != n.UID || readySince(o) != readySince(n) || !maps.Equal(o.Labels, n.Labels) ||
		!slices.EqualFunc(o.Spec.Taints, n.Spec.Taints, sameTaint)
}

// readySince returns since when a node is, or is not, ready: what the turns of its zone depend on.
func readySince(n *corev1.Node) (is readiness) {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return readiness{c.Status, c.LastTransitionTime.Unix()}
		}
	}
	return is
}

type readiness struct {
	status corev1.ConditionStatus
	since  int64
}

func sameTaint(x, y corev1.Taint) bool {
	return x.MatchTaint(&y) && x.Value == y.Value && (x.TimeAdded == nil) == (y.TimeAdded == nil) && x.TimeAdded.Equal(y.TimeAdded)
}
