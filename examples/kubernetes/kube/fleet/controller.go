package fleet

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Options configures the controller.
type Options struct {
	// Client reads and writes, without a cache. Nil means that SetupWithManager
	// creates one from the manager's configuration.
	Client client.Client
	// Kind is the kind of machines, see Backend.Kind.
	Kind schema.GroupVersionKind
	// Nodes reads the nodes, see Backend.Nodes. Nodes of another cluster are not
	// watched: then each health check is evaluated once a minute.
	Nodes client.Reader
	// Clock is the clock; nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// Workers is how many health checks, or sets, are handled concurrently.
	// Zero means 1.
	Workers int
}

// SetupWithManager adds the controller of MachineHealthChecks to a manager. It runs
// while the manager leads. Passes over a check are triggered by changes of the check,
// of machines in its namespace, and of the readiness of any node, and when a machine
// becomes unhealthy by the passing of time. Events on the check report why machines are
// not replaced.
func SetupWithManager(mgr ctrl.Manager, opts Options) error {
	return opts.setup(mgr, "fairlead-fleet", HealthCheckKind, func(ctx context.Context, b *Backend, name string, now time.Time) fairlead.Pass {
		r, err := b.Check(ctx, name, now)
		if r == nil {
			return fairlead.Pass{Err: err}
		}
		return fairlead.Pass{Actions: len(r.Remediate), Blocked: r.Blocked, Wake: r.Wake, Err: err}
	})
}

// SetupControlPlaneWithManager adds the controller of ControlPlaneMachineSets, see
// [Backend.Replace]. It runs while the manager leads. Passes over a set are triggered
// by changes of the set, of machines in its namespace, and of the readiness of any
// node, and every few seconds while it waits for a machine. Events on the set report
// what it waits for.
func SetupControlPlaneWithManager(mgr ctrl.Manager, opts Options) error {
	return opts.setup(mgr, "fairlead-control-plane", ControlPlaneKind, func(ctx context.Context, b *Backend, name string, now time.Time) fairlead.Pass {
		r, err := b.Replace(ctx, name, now)
		if r == nil {
			return fairlead.Pass{Err: err}
		}
		n := len(r.Create)
		if r.Delete != "" {
			n++
		}
		return fairlead.Pass{Actions: n, Blocked: r.Blocked, Wake: r.Wake, Err: err}
	})
}

// setup adds a controller for objects of a kind that replace machines.
func (opts Options) setup(mgr ctrl.Manager, controller string, kind schema.GroupVersionKind, pass func(ctx context.Context, b *Backend, name string, now time.Time) fairlead.Pass) error {
	b := &Backend{Client: opts.Client, Kind: opts.Kind, Nodes: opts.Nodes}
	if b.Client == nil {
		c, err := kube.Direct(mgr)
		if err != nil {
			return err
		}
		b.Client = c
	}
	if opts.Clock == nil {
		opts.Clock = fairlead.SystemClock{}
	}
	if kind == HealthCheckKind {
		kind = b.beside(kind)
	}
	cache := mgr.GetCache()
	all := func(ctx context.Context, namespace string) []reconcile.Request {
		list := kube.ListOf(kind)
		if err := cache.List(ctx, list, client.InNamespace(namespace)); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, kind.Kind, "namespace", namespace)
			return nil
		}
		var found []reconcile.Request
		for i := range list.Items {
			found = append(found, kube.RequestOf(kube.NameOf(&list.Items[i])))
		}
		return found
	}
	told := &kube.Events{Patience: kube.Patience, Recorder: mgr.GetEventRecorder(controller), Action: "Replace", Object: func(ctx context.Context, name string) runtime.Object {
		namespace, short := kube.SplitName(name)
		u := kube.Stub(kind, namespace, short)
		if cache.Get(ctx, client.ObjectKeyFromObject(u), u) != nil {
			return nil
		}
		return u
	}}
	return ctrl.NewControllerManagedBy(mgr).Named(controller).
		For(kube.Stub(kind, "", ""), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Watches(kube.Stub(b.kind(), "", ""), handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return all(ctx, o.GetNamespace())
		})).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
			return all(ctx, "")
		}), builder.WithPredicates(kube.Decisive())).
		WithOptions(kube.Options(max(1, opts.Workers))).
		Complete(&kube.Reconciler{
			MinInterval: kube.Settle,
			Clock:       opts.Clock,
			Report:      told.Report,
			Pass: func(ctx context.Context, name string) fairlead.Pass {
				now := opts.Clock.Now()
				p := pass(ctx, b, name, now)
				if soon := now.Add(time.Minute); b.Nodes != nil && (p.Wake.IsZero() || soon.Before(p.Wake)) {
					p.Wake = soon
				}
				return p
			},
		})
}
