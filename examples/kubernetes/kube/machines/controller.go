package machines

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	Policy *lifecycle.Policy
	// Store keeps the state; see [kube.Store]. It is required.
	Store fairlead.Store
	// Kind is the kind of the machines; empty means [Kind]. See
	// [KindClusterAPI].
	Kind schema.GroupVersionKind
	// Cloud accesses the instances. It may be nil only for machines of the
	// Cluster API.
	Cloud Cloud
	// Limits limit how many machines are drained at a time. Nil means no
	// limits.
	Limits []drain.Limit
	// Owners returns the heartbeats of owners of hooks; see [Backend].
	Owners func(ctx context.Context, names []string) ([]lifecycle.Owner, error)
	// Clock is the clock. Nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// Facts adds facts about a machine that only you know; see [Backend].
	Facts func(ctx context.Context, w *lifecycle.World) error
	// Taints keeps the taints of machines on their nodes, see [Taints]. Leave it off beside
	// another controller that does, such as the API's own.
	Taints bool
	// Trace is called as things happen, see [kube.Metrics]; it may be nil.
	Trace *fairlead.Trace
	// Workers is how many machines are handled concurrently. Zero means 4.
	Workers int
	// Client reads and writes, without a cache. Nil means that
	// SetupWithManager creates one from the manager's configuration.
	Client client.Client
}

// deletingOn is the field by which cached machines under deletion are
// indexed: the name of their node. All of them are also indexed under
// anyNode.
const (
	deletingOn = "fairlead.io/deleting-on"
	anyNode    = "*"
)

// SetupWithManager adds the controller to a manager. It runs while the manager
// leads. Passes over a machine are triggered by its changes; while it is being
// deleted also by changes of its node, the pods on it, and all disruption
// budgets. The error of Policy.Check is returned.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, opts Options) error {
	if err := opts.check(); err != nil {
		return err
	}
	if opts.Client == nil {
		c, err := kube.Direct(mgr)
		if err != nil {
			return err
		}
		opts.Client = c
	}
	recorder := mgr.GetEventRecorder("fairlead-machines")
	backend := &Backend{
		Client: opts.Client, Cache: mgr.GetCache(), Kind: opts.Kind, Cloud: opts.Cloud, Clock: opts.Clock, Recorder: recorder,
		Owners: opts.Owners, Facts: opts.Facts, Policy: opts.Policy,
	}
	if len(opts.Limits) > 0 {
		gate, err := drain.NewGate(opts.Store, slotsKey, opts.Limits)
		if err != nil {
			return err
		}
		backend.Gate = gate
	}
	runner, err := lifecycle.NewRunner(backend, opts.Policy, &fairlead.RunnerOptions{Store: opts.Store, Clock: opts.Clock, Trace: opts.Trace})
	if err != nil {
		return err
	}
	if opts.Taints {
		taints := &Taints{Client: opts.Client, Cache: mgr.GetCache(), Kind: backend.kind()}
		if err := taints.setup(ctx, mgr); err != nil {
			return err
		}
	}
	machine := kube.Stub(backend.kind(), "", "")
	if err := mgr.GetFieldIndexer().IndexField(ctx, machine, deletingOn, nodesOfDeleting); err != nil {
		return err
	}
	if err := mgr.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, NodeIndex, nodes.Of); err != nil {
		return err
	}
	workers := opts.Workers
	if workers == 0 {
		workers = 4
	}
	told := &kube.Events{Patience: kube.Patience, Recorder: recorder, Action: "Delete", Object: func(ctx context.Context, name string) runtime.Object {
		u, err := backend.object(ctx, backend.Cache, name)
		if err != nil {
			return nil
		}
		return u
	}}
	enqueue := &enqueuer{machines: mgr.GetCache(), kind: backend.kind()}
	return ctrl.NewControllerManagedBy(mgr).Named("fairlead-machines").
		For(machine).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(enqueue.ofNode), builder.WithPredicates(kube.Decisive())).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(enqueue.ofPod), builder.WithPredicates(kube.Decisive())).
		Watches(&policyv1.PodDisruptionBudget{}, handler.EnqueueRequestsFromMapFunc(enqueue.all), builder.WithPredicates(kube.Decisive())).
		Watches(machine, handler.EnqueueRequestsFromMapFunc(enqueue.all), builder.WithPredicates(predicate.Funcs{ // its slot is free now
			CreateFunc: never[event.CreateEvent], UpdateFunc: never[event.UpdateEvent], GenericFunc: never[event.GenericEvent],
		})).
		WatchesRawSource(kube.Swept(mgr.GetCache(), runner.Sweep, backend.stub)).
		WithOptions(kube.Options(workers)).
		Complete(&kube.Reconciler{
			MinInterval: kube.Settle,
			Clock:       opts.Clock,
			Report:      told.Report,
			Pass:        func(ctx context.Context, name string) fairlead.Pass { return pass(ctx, runner, backend, name) },
		})
}

// stub returns an empty machine with a name, as in "namespace/name".
func (b *Backend) stub(name string) client.Object {
	namespace, name := kube.SplitName(name)
	return kube.Stub(b.kind(), namespace, name)
}

// check reports what is missing.
func (o *Options) check() error {
	switch {
	case o.Store == nil:
		return fmt.Errorf("kube/machines: no Store: give it one that outlives the process, such as a kube.Store")
	case o.Cloud == nil && o.Kind.Group != KindClusterAPI.Group:
		return fmt.Errorf("kube/machines: no Cloud: one is needed to look up and delete instances, such as a Program")
	}
	return nil
}

// pass is a pass over a machine; during an outage of the cloud it looks again soon.
func pass(ctx context.Context, runner *lifecycle.Runner, backend *Backend, name string) fairlead.Pass {
	d, err := runner.Reconcile(ctx, name)
	p := fairlead.Pass{Actions: len(d.Actions), Blocked: d.Blocks(), Wake: d.Wake, Err: err}
	if outage, is := backend.Outage(name); is {
		p.Blocked = append(p.Blocked, outage)
		if soon := backend.now().Add(RetryCloud); p.Wake.IsZero() || soon.Before(p.Wake) {
			p.Wake = soon
		}
	}
	return p
}

func never[E any](E) bool { return false }

// nodesOfDeleting returns the index values of machines under deletion.
func nodesOfDeleting(o client.Object) []string {
	if o.GetDeletionTimestamp() == nil {
		return nil
	}
	out := []string{anyNode}
	if u, ok := o.(*unstructured.Unstructured); ok {
		if name, _, _ := unstructured.NestedString(u.Object, "status", "nodeRef", "name"); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// enqueuer maps events to machines.
type enqueuer struct {
	machines client.Reader
	kind     schema.GroupVersionKind // of the machines
}

func (e *enqueuer) ofNode(ctx context.Context, o client.Object) []reconcile.Request {
	return e.on(ctx, o.GetName())
}

func (e *enqueuer) ofPod(ctx context.Context, o client.Object) []reconcile.Request {
	if p, ok := o.(*corev1.Pod); ok && p.Spec.NodeName != "" {
		return e.on(ctx, p.Spec.NodeName)
	}
	return nil
}

func (e *enqueuer) all(ctx context.Context, _ client.Object) []reconcile.Request {
	return e.on(ctx, anyNode)
}

func (e *enqueuer) on(ctx context.Context, node string) []reconcile.Request {
	list := kube.ListOf(e.kind)
	if err := e.machines.List(ctx, list, client.MatchingFields{deletingOn: node}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "machines on the node", "node", node)
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}
