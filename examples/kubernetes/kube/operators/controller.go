package operators

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
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
	Policy *install.Policy
	// Store keeps the state; see [kube.Store]. It is required: the record that a
	// plan has begun must outlive the process.
	Store fairlead.Store
	// Trace is called as things happen, see [kube.Metrics]; it may be nil.
	Trace *fairlead.Trace
	// Metrics receives the metrics that the Operator Lifecycle Manager
	// publishes; it may be nil.
	Metrics *Metrics
	// Workers is how many namespaces are handled concurrently. Zero means 4.
	Workers int
	// Client reads and writes, without a cache. Nil means that SetupWithManager
	// creates one from the manager's configuration, with [Warnings].
	Client client.Client
	// Kinds lists kinds in bundles other than those of every bundle; their
	// objects are also watched, so that deletions are noticed at once. Nil
	// means Services and ConfigMaps.
	Kinds []schema.GroupVersionKind
}

// SetupWithManager adds the controller to a manager. Passes over a namespace are
// triggered by all changes that matter to it; for most objects only the metadata
// is watched, see the package documentation. Passes are made while the manager
// leads. The server is asked for its version, unless Options.KubeVersion is set.
func SetupWithManager(mgr ctrl.Manager, opts Options) error {
	if opts.Store == nil {
		return fmt.Errorf("kube/operators: no Store: give it one that outlives the process, such as a kube.Store")
	}
	if opts.Client == nil {
		c, err := newClient(mgr)
		if err != nil {
			return fmt.Errorf("kube/operators: client: %w", err)
		}
		opts.Client = c
	}
	if opts.KubeVersion == "" {
		version, err := kubeVersion(mgr)
		if err != nil {
			return fmt.Errorf("kube/operators: the server's version: %w", err)
		}
		opts.KubeVersion = version
	}
	if opts.As == nil {
		config := rest.CopyConfig(mgr.GetConfig())
		config.WarningHandlerWithContext = Warnings{}
		opts.As = (&kube.Accounts{Config: config, Options: client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()}}).As
	}
	if opts.Cache == nil {
		opts.Cache, opts.Cached = mgr.GetCache(), watchedKinds(opts.Kinds)
	}
	if opts.Unread == nil {
		log := mgr.GetLogger().WithName(FieldManager)
		opts.Unread = func(source olm.SourceKey, err error) { log.Error(err, "catalog source", "source", source.String()) }
	}
	backend, err := New(opts.Client, &opts.BackendOptions)
	if err != nil {
		return err
	}
	read := make(chan event.GenericEvent, 1)
	backend.whenRead(func() {
		select {
		case read <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{}}:
		default: // one is on its way
		}
	})
	var traced install.Backend = backend
	if opts.Metrics != nil {
		traced = install.Traced(backend, opts.Metrics.Trace())
	}
	runner, err := install.NewRunner(traced, backend.Resolve, opts.Policy, &fairlead.RunnerOptions{Store: opts.Store, Clock: opts.Clock, Trace: opts.Trace})
	if err != nil {
		return fmt.Errorf("kube/operators: %w", err)
	}
	tell := &reporter{backend: backend, told: map[string][]string{}}
	tell.events = &kube.Events{Patience: kube.Patience, Recorder: mgr.GetEventRecorder(FieldManager), Action: "Install", Object: tell.object}
	b := ctrl.NewControllerManagedBy(mgr).Named(FieldManager).WithOptions(kube.Options(workers(opts.Workers)))
	watch(b, &watches{backend: backend}, opts.Kinds)
	b.WatchesRawSource(source.Channel(read, handler.EnqueueRequestsFromMapFunc((&watches{backend: backend}).all)))
	b.WatchesRawSource(kube.Swept(mgr.GetCache(), runner.Sweep, func(name string) client.Object { return kube.Head(namespaces, "", name) }))
	return b.Complete(&kube.Reconciler{
		MinInterval: kube.Settle,
		Clock:       opts.Clock,
		Name:        func(r reconcile.Request) string { return r.Name },
		Report:      tell.report,
		Pass: func(ctx context.Context, namespace string) fairlead.Pass {
			d, err := runner.Reconcile(ctx, namespace)
			return fairlead.Pass{
				Actions: len(d.Actions), Blocked: slices.Concat(d.Blocked, backend.Faults(namespace)),
				Wake: backend.shelf.retry(d.Wake), Err: err,
			}
		},
	})
}

func workers(n int) int {
	if n == 0 {
		return 4
	}
	return n
}

func newClient(mgr ctrl.Manager) (client.Client, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.WarningHandlerWithContext = Warnings{}
	return client.New(config, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
}

func kubeVersion(mgr ctrl.Manager) (string, error) {
	d, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return "", err
	}
	v, err := d.ServerVersion()
	if err != nil {
		return "", err
	}
	return v.GitVersion, nil
}

// watches maps changed objects to the affected namespaces.
type watches struct{ backend *Backend }

// labelledKinds returns the kinds whose objects with the label are watched; kinds
// are those of Options.
func labelledKinds(kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	if kinds == nil {
		kinds = []schema.GroupVersionKind{services, configMaps}
	}
	var all []schema.GroupVersionKind
	for _, gvk := range slices.Concat([]schema.GroupVersionKind{secrets, accounts}, generatedKinds(), kinds) {
		if gvk != apiServices && gvk != configMaps && !slices.Contains(all, gvk) {
			all = append(all, gvk)
		}
	}
	return all
}

// watchedKinds returns all kinds that are watched.
func watchedKinds(kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	return append(labelledKinds(kinds), subscriptions, plans, csvs, conditions, groups, catalogs, namespaces, crds, apiServices, deployments, configMaps)
}

// watch adds all watches.
func watch(b *builder.Builder, w *watches, kinds []schema.GroupVersionKind) {
	hear := w.backend.client.Listen()
	add := func(gvk schema.GroupVersionKind, matters func(client.Object) bool, in handler.MapFunc) {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(gvk)
		b.WatchesMetadata(o, handler.EnqueueRequestsFromMapFunc(in), builder.WithPredicates(predicate.NewPredicateFuncs(func(o client.Object) bool {
			hear(gvk.GroupKind())
			return matters(o)
		})))
	}
	for _, gvk := range []schema.GroupVersionKind{subscriptions, plans, csvs, conditions} {
		add(gvk, everything, w.own)
	}
	add(groups, everything, w.all)
	add(catalogs, everything, w.all)
	add(namespaces, everything, w.all)
	add(crds, everything, w.named)
	add(apiServices, everything, w.named)
	add(deployments, func(o client.Object) bool { return o.GetLabels()[group.OwnerLabel] != "" }, w.own)
	for _, gvk := range labelledKinds(kinds) {
		if slices.Contains([]schema.GroupVersionKind{accounts, roles, roleBindings, clusterRoles, clusterRoleBindings}, gvk) {
			add(gvk, everything, w.permission)
			continue
		}
		add(gvk, labelled, w.labelled)
	}
	add(configMaps, func(o client.Object) bool { return labelled(o) || w.backend.shelf.holds(o) }, w.configMap)
}

func everything(client.Object) bool { return true }

func labelled(o client.Object) bool { return o.GetLabels()[NamespaceLabel] != "" }

func request(namespace string) []reconcile.Request {
	return []reconcile.Request{kube.RequestOf(namespace)}
}

func (w *watches) own(_ context.Context, o client.Object) []reconcile.Request {
	return request(o.GetNamespace())
}

func (w *watches) labelled(_ context.Context, o client.Object) []reconcile.Request {
	return request(o.GetLabels()[NamespaceLabel])
}

// permission returns the namespaces affected by an object that may give a service account
// permissions, or be one: those limited to an account, and that of a plan's object.
func (w *watches) permission(_ context.Context, o client.Object) []reconcile.Request {
	home := o.GetLabels()[NamespaceLabel]
	var all []reconcile.Request
	for _, namespace := range w.backend.withAccounts() {
		if namespace != home && (o.GetNamespace() == "" || o.GetNamespace() == namespace) {
			all = append(all, request(namespace)...)
		}
	}
	if home != "" {
		all = append(all, request(home)...)
	}
	return all
}

// all returns all observed namespaces, and that of the object.
func (w *watches) all(_ context.Context, o client.Object) []reconcile.Request {
	return w.requests(o.GetNamespace(), func(string) bool { return true })
}

// named returns the namespaces whose objects name a CRD or an API service,
// and the one that an API service was created for.
func (w *watches) named(_ context.Context, o client.Object) []reconcile.Request {
	speaking := w.backend.speaksOf(o.GetName())
	return w.requests(o.GetLabels()[NamespaceLabel], func(namespace string) bool { return slices.Contains(speaking, namespace) })
}

// configMap returns the namespaces affected by a ConfigMap: the object of a
// plan, or the content of a catalog.
func (w *watches) configMap(ctx context.Context, o client.Object) []reconcile.Request {
	if w.backend.shelf.holds(o) {
		return w.all(ctx, o)
	}
	return w.labelled(ctx, o)
}

// requests returns requests for the observed namespaces for which meant
// returns true, and for one more, unless that is "".
func (w *watches) requests(also string, meant func(string) bool) []reconcile.Request {
	var all []reconcile.Request
	for _, namespace := range w.backend.observed() {
		if namespace != also && meant(namespace) {
			all = append(all, request(namespace)...)
		}
	}
	if also != "" {
		all = append(all, request(also)...)
	}
	return all
}
