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
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Options configures the controller.
type Options struct {
	BackendOptions
	// Policy is that of the engine; nil means the zero policy.
	Policy *extension.Policy
	// Store keeps the state; see [kube.Store]. It is required: the numbers given
	// to revisions must outlive the process.
	Store fairlead.Store
	// Trace is called as things happen, see [kube.Metrics]; it may be nil.
	Trace *fairlead.Trace
	// Workers is how many extensions are handled concurrently. Zero means 4.
	Workers int
	// Client reads and writes, without a cache. Nil means that
	// SetupWithManager creates one from the manager's configuration.
	Client client.Client
	// Kinds lists less common kinds in bundles; their objects are also watched,
	// so that changes and deletions are noticed at once.
	Kinds []schema.GroupVersionKind
}

// SetupWithManager adds the controller to a manager. It runs while the manager
// leads. Passes over an extension are triggered by changes of the extension, its
// revisions, its objects, and catalogs; only the metadata of objects is watched.
// While objects of its CRDs, which are not watched, block its removal, it gets a
// pass every [RecheckObjects]. The error of Policy.Check is returned.
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
	if opts.As == nil {
		opts.As = (&kube.Accounts{Config: mgr.GetConfig(), Options: client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()}}).As
	}
	if opts.Cache == nil {
		opts.Cache, opts.Cached = mgr.GetCache(), watchedKinds(opts.Kinds)
	}
	backend := New(opts.Client, &opts.BackendOptions)
	read := make(chan event.GenericEvent, 1)
	backend.catalogs.Changed = func() {
		select {
		case read <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{}}:
		default: // one is on its way
		}
	}
	backend.bundles.Changed = backend.catalogs.Changed
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
	b.WatchesRawSource(source.Channel(read, handler.EnqueueRequestsFromMapFunc((&watches{backend}).all)))
	b.WatchesRawSource(kube.Swept(mgr.GetCache(), runner.Sweep, func(name string) client.Object { return kube.Head(extensions, "", name) }))
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

// RecheckObjects is how often to check whether the objects of a CRD are gone.
const RecheckObjects = 30 * time.Second

// recheck returns the time of the next pass: as decided, or earlier if it depends
// on objects that are not watched.
func (b *Backend) recheck(d *extension.Decision) time.Time {
	soon := b.opts.Clock.Now().Add(RecheckObjects)
	waits := slices.ContainsFunc(d.Blocked, func(x fairlead.Block) bool {
		return x.Reason == extension.ReasonUsedCRD || x.Reason == extension.ReasonPreflight
	})
	if next := b.catalogs.Next(); !next.IsZero() && (d.Wake.IsZero() || next.Before(d.Wake)) {
		d.Wake = next
	}
	if waits && (d.Wake.IsZero() || soon.Before(d.Wake)) {
		return soon
	}
	return d.Wake
}

// watches maps changed objects to the affected extensions.
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

// objectKinds returns the kinds of objects that are watched; kinds are those of
// Options.
func objectKinds(kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	all := usual()
	for _, gvk := range kinds {
		if !slices.Contains(all, gvk) {
			all = append(all, gvk)
		}
	}
	return all
}

// watchedKinds returns all kinds that are watched.
func watchedKinds(kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	return append(objectKinds(kinds), extensions, catalogs, revisions)
}

// labelled returns the extension to which an object belongs.
func labelled(_ context.Context, o client.Object) []reconcile.Request {
	if labels := o.GetLabels(); labels[extension.OwnerKindLabel] == extensions.Kind && labels[extension.OwnerNameLabel] != "" {
		return []reconcile.Request{kube.RequestOf(labels[extension.OwnerNameLabel])}
	}
	return nil
}

// extension returns the changed extension, or all of them if they are resolved
// together.
func (w *watches) extension(ctx context.Context, o client.Object) []reconcile.Request {
	if w.backend.opts.Together {
		return w.all(ctx, o)
	}
	return []reconcile.Request{kube.RequestOf(o.GetName())}
}

// all returns all extensions in the cache, which cannot fail for lack of an answer, including the
// object itself if it is one.
func (w *watches) all(ctx context.Context, o client.Object) []reconcile.Request {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(extensions.GroupVersion().WithKind(extensions.Kind + "List"))
	if err := w.backend.opts.Cache.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
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
