package quorum

import (
	"context"
	"errors"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/lifecycle/quorum"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Options configures the controller.
type Options struct {
	// Backend is the control plane. If its Client is nil, SetupWithManager
	// creates one from the manager's configuration.
	Backend Backend
	// Name is the name of the control plane in reports and in the state. Empty
	// means "control-plane".
	Name string
	// Policy is that of the engine; nil means the zero policy. Its Resync is how
	// often the members are polled, because etcd sends no events.
	Policy *quorum.Policy
	// Store keeps the state; see [kube.Store]. Losing it is harmless. Nil means one in
	// memory.
	Store fairlead.Store
	// Clock is the clock; nil means [fairlead.SystemClock].
	Clock fairlead.Clock
	// Trace is called as things happen, see [kube.Metrics]; it may be nil.
	Trace *fairlead.Trace
}

// SetupWithManager adds the controller to a manager. It runs while the manager leads.
// Passes are triggered by changes of machines, nodes and pods of the control plane.
// Events on the namespace of the machines report what it waits for. The error of
// Policy.Check is returned.
func SetupWithManager(mgr ctrl.Manager, opts Options) error {
	b := opts.Backend
	switch {
	case b.Etcd == nil || len(b.Etcd.Endpoints) == 0:
		return errors.New("kube/quorum: no etcd: name the client URLs of its members in Backend.Etcd.Endpoints")
	case b.Desired < 1:
		return errors.New("kube/quorum: Backend.Desired is the desired number of voters: must be at least 1")
	}
	if b.Client == nil {
		c, err := kube.Direct(mgr)
		if err != nil {
			return err
		}
		b.Client = c
	}
	name := opts.Name
	if name == "" {
		name = "control-plane"
	}
	runner, err := quorum.NewRunner(&onlyOne{&b, name}, opts.Policy, &fairlead.RunnerOptions{Store: opts.Store, Clock: opts.Clock, Trace: opts.Trace})
	if err != nil {
		return err
	}
	told := &kube.Events{Patience: kube.Patience, Recorder: mgr.GetEventRecorder("fairlead-quorum"), Action: "GuardQuorum", Object: func(context.Context, string) runtime.Object {
		if b.Namespace == "" {
			return nil
		}
		ns := &corev1.Namespace{}
		ns.APIVersion, ns.Kind, ns.Name = "v1", "Namespace", b.Namespace
		return ns
	}}
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{kube.RequestOf(name)}
	})
	if err := kube.SweptBut(mgr, runner.Sweep, name); err != nil {
		return err
	}
	controller := ctrl.NewControllerManagedBy(mgr).Named("fairlead-quorum").
		Watches(&corev1.Node{}, all, builder.WithPredicates(selected(b.Nodes, ""), kube.Decisive())).
		Watches(&corev1.Pod{}, all, builder.WithPredicates(predicate.Or(selected(b.Pods.Selector, b.Pods.Namespace), selected(b.Guards.Selector, b.Guards.Namespace)), kube.Decisive()))
	if b.Machines != nil {
		controller = controller.Watches(kube.Stub(b.kind(), "", ""), all, builder.WithPredicates(selected(b.Machines, b.Namespace)))
	}
	return controller.WithOptions(kube.Options(1)).Complete(&kube.Reconciler{
		MinInterval: kube.Settle,
		Clock:       opts.Clock,
		Report:      told.Report,
		Pass: func(ctx context.Context, name string) fairlead.Pass {
			d, err := runner.Reconcile(ctx, name)
			return fairlead.Pass{Actions: len(d.Actions), Blocked: d.Blocked, Wake: d.Wake, Err: err}
		},
	})
}

// onlyOne is a Backend of one control plane: there is none of another name.
type onlyOne struct {
	*Backend
	name string
}

// Observe implements quorum.Backend.
func (n *onlyOne) Observe(ctx context.Context, cluster string) (*quorum.World, error) {
	if cluster != n.name {
		return &quorum.World{NoMachines: true}, nil
	}
	return n.Backend.Observe(ctx, cluster)
}

// selected passes events of objects with some labels, in a namespace if one is
// given. A nil selector selects the nodes of the control plane, or no pods.
func selected(s labels.Selector, namespace string) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool {
		if s == nil {
			_, is := o.GetLabels()[labelControlPlane]
			_, node := o.(*corev1.Node)
			return is && node
		}
		return (namespace == "" || o.GetNamespace() == namespace) && s.Matches(labels.Set(o.GetLabels()))
	})
}
