package extension

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/solver/olm/extension"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Options say how the controller works.
type Options struct {
	BackendOptions
	// Policy is how the engine decides; nil means the zero one.
	Policy *extension.Policy
	// Store keeps the state; see [kube.Store]. It must not be nil: which numbers
	// revisions were given must outlive the process.
	Store fairlead.Store
	// Trace is called as things happen; nil for nothing; see [kube.Metrics].
	Trace *fairlead.Trace
	// Workers is how many extensions are looked at at a time. Zero means 4.
	Workers int
	// Client reads and writes, without a cache. Nil means one that
	// SetupWithManager makes from the manager's configuration.
	Client client.Client
	// Kinds are those that bundles bring besides what most do; their objects are
	// watched, so that one that is changed or deleted is noticed at once.
	Kinds []schema.GroupVersionKind
}

// SetupWithManager adds the controller to a manager. It runs while the manager
// leads. An extension gets a pass when it, a revision or an object of it changes,
// and when catalogs do; of objects only the metadata are watched. While objects
// of its CRDs hold up its removal, which are not watched, it gets one every
// [RecheckObjects]. The error of Policy.Check is returned.
func SetupWithManager(mgr ctrl.Manager, opts Options) error {
	if opts.Store == nil {
		return fmt.Errorf("kube/extension: no Store: give it one that outlives the process, such as a kube.Store")
	}
	if opts.Client == nil {
		c, err := kube.Direct(mgr)
		if err != nil {
			return err
		}
		opts.Client = c
	}
	if opts.Policy != nil {
		opts.Certificates = opts.Policy.Certificates
	}
	if opts.Cache == nil {
		opts.Cache, opts.Cached = mgr.GetCache(), watchedKinds(opts.Kinds)
	}
	backend := New(opts.Client, &opts.BackendOptions)
	runner, err := extension.NewRunner(backend, backend.Resolve, opts.Policy, &fairlead.RunnerOptions{Store: opts.Store, Clock: opts.Clock, Trace: opts.Trace})
	if err != nil {
		return fmt.Errorf("kube/extension: %w", err)
	}
	workers := opts.Workers
	if workers == 0 {
		workers = 4
	}
	told := &kube.Events{Patience: kube.Patience, Recorder: mgr.GetEventRecorder(FieldManager), Action: "Install", Object: func(ctx context.Context, name string) runtime.Object {
		found, err := backend.api.Head(ctx, extensions, "", name)
		if err != nil || found == nil {
			return nil
		}
		return found
	}}
	b := ctrl.NewControllerManagedBy(mgr).Named(FieldManager).WithOptions(kube.Options(workers))
	watch(b, &watches{backend}, opts.Kinds)
	return b.Complete(&kube.Reconciler{
		MinInterval: kube.Settle,
		Clock:       opts.Clock,
		Report:      told.Report,
		Pass: func(ctx context.Context, name string) fairlead.Pass {
			d, err := runner.Reconcile(ctx, name)
			return fairlead.Pass{Actions: len(d.Actions), Blocked: d.Blocked, Wake: backend.recheck(&d), Err: err}
		},
	})
}

// RecheckObjects is how often it is looked whether objects of a CRD are gone.
const RecheckObjects = 30 * time.Second

// recheck is when to look again: as decided, or earlier where that depends on what
// is not watched.
func (b *Backend) recheck(d *extension.Decision) time.Time {
	soon := b.opts.Clock.Now().Add(RecheckObjects)
	waits := slices.ContainsFunc(d.Blocked, func(x fairlead.Block) bool {
		return x.Reason == extension.ReasonUsedCRD || x.Reason == extension.ReasonPreflight
	})
	if waits && (d.Wake.IsZero() || soon.Before(d.Wake)) {
		return soon
	}
	return d.Wake
}

// watches maps what changes to the extensions that it matters to.
type watches struct{ backend *Backend }

// watch adds all watches.
func watch(b *builder.Builder, w *watches, kinds []schema.GroupVersionKind) {
	hear := w.backend.client.Listen()
	add := func(gvk schema.GroupVersionKind, in handler.MapFunc) {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(gvk)
		b.WatchesMetadata(o, handler.EnqueueRequestsFromMapFunc(in), builder.WithPredicates(predicate.NewPredicateFuncs(func(client.Object) bool {
			hear(gvk.GroupKind())
			return true
		})))
	}
	add(extensions, w.extension)
	add(catalogs, w.all)
	add(revisions, labelled)
	for _, gvk := range objectKinds(kinds) {
		add(gvk, labelled)
	}
}

// objectKinds are those of objects that are watched; kinds are those of Options.
func objectKinds(kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	all := usual()
	for _, gvk := range kinds {
		if !slices.Contains(all, gvk) {
			all = append(all, gvk)
		}
	}
	return all
}

// watchedKinds are all those that are watched.
func watchedKinds(kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	return append(objectKinds(kinds), extensions, catalogs, revisions)
}

// labelled is the extension that an object belongs to.
func labelled(_ context.Context, o client.Object) []reconcile.Request {
	if labels := o.GetLabels(); labels[extension.OwnerKindLabel] == extensions.Kind && labels[extension.OwnerNameLabel] != "" {
		return []reconcile.Request{kube.RequestOf(labels[extension.OwnerNameLabel])}
	}
	return nil
}

// extension is the one that has changed, or all where they are resolved together.
func (w *watches) extension(ctx context.Context, o client.Object) []reconcile.Request {
	if w.backend.opts.Together {
		return w.all(ctx, o)
	}
	return []reconcile.Request{kube.RequestOf(o.GetName())}
}

// all are the extensions that there are, and the object's own if it is one.
func (w *watches) all(ctx context.Context, o client.Object) []reconcile.Request {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(extensions.GroupVersion().WithKind(extensions.Kind + "List"))
	if err := w.backend.api.Client.List(ctx, &list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cluster extensions")
	}
	var all []reconcile.Request
	if o.GetObjectKind().GroupVersionKind().Kind == extensions.Kind {
		all = append(all, kube.RequestOf(o.GetName()))
	}
	for i := range list.Items {
		all = append(all, kube.RequestOf(list.Items[i].Name))
	}
	return all
}
