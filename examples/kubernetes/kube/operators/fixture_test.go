package operators_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/install"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const ns = "plumbing"

func kind(group, version, name string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: name}
}

var (
	subscriptionKind = kind("operators.coreos.com", "v1alpha1", "Subscription")
	planKind         = kind("operators.coreos.com", "v1alpha1", "InstallPlan")
	csvKind          = kind("operators.coreos.com", "v1alpha1", "ClusterServiceVersion")
	catalogKind      = kind("operators.coreos.com", "v1alpha1", "CatalogSource")
	groupKind        = kind("operators.coreos.com", "v1", "OperatorGroup")
	conditionKind    = kind("operators.coreos.com", "v2", "OperatorCondition")
	validatingKind   = kind("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration")
	mutatingKind     = kind("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration")
	apiServiceKind   = kind("apiregistration.k8s.io", "v1", "APIService")
	secretKind       = kind("", "v1", "Secret")
	crdKind          = kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
)

// world is a fake API server, with simulated controllers, and an engine.
type world struct {
	t       *testing.T
	client  client.WithWatch // as users and controllers see it
	backend *operators.Backend
	runner  *install.Runner
	trace   *install.Trace // may be nil; takes effect with the next restart
	clock   *fairlead.ManualClock
	store   *fairlead.MemStore
	uids    int

	cache client.Reader // the backend's cache; by default it has what the server has

	mu     sync.Mutex
	writes []string // of the backend, in order: verb, kind, name
	reads  []string // likewise
	// fail is called before each write of the backend; the write fails with the
	// error that it returns. If carriedOut is true, the write takes place
	// anyway.
	fail func(verb string, o client.Object) (err error, carriedOut bool)
	gone string // a kind whose definition was deleted after the backend learned about it
}

func newWorld(t *testing.T, opts *operators.BackendOptions) *world {
	t.Helper()
	w := &world{t: t, clock: &fairlead.ManualClock{}, store: &fairlead.MemStore{}}
	w.clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s := runtime.NewScheme()
	if err := scheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{
		{Version: "v1"}, {Group: "apps", Version: "v1"}, {Group: "rbac.authorization.k8s.io", Version: "v1"}, {Group: "operators.coreos.com", Version: "v1alpha1"},
		{Group: "admissionregistration.k8s.io", Version: "v1"}, {Group: "apiregistration.k8s.io", Version: "v1"},
	})
	var withStatus []client.Object
	for _, k := range []schema.GroupVersionKind{subscriptionKind, planKind, csvKind, catalogKind, groupKind, conditionKind} {
		mapper.Add(k, meta.RESTScopeNamespace)
		register(s, k)
		withStatus = append(withStatus, object(k, "", ""))
	}
	for k := range s.AllKnownTypes() {
		if strings.HasSuffix(k.Kind, "List") || strings.HasSuffix(k.Kind, "Options") || mapperKnows(mapper, k) {
			continue
		}
		scope := meta.RESTScope(meta.RESTScopeNamespace)
		switch k.Kind {
		case "Namespace", "ClusterRole", "ClusterRoleBinding", "PriorityClass", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
			scope = meta.RESTScopeRoot
		}
		mapper.Add(k, scope)
	}
	mapper.Add(crdKind, meta.RESTScopeRoot)
	register(s, crdKind)
	mapper.Add(apiServiceKind, meta.RESTScopeRoot)
	register(s, apiServiceKind)
	for _, name := range []string{"Pipe", "Valve", "Gauge"} {
		for _, version := range []string{"v1", "v1alpha1"} {
			mapper.Add(kind(shelf.Group, version, name), meta.RESTScopeNamespace)
			register(s, kind(shelf.Group, version, name))
		}
	}
	w.client = fake.NewClientBuilder().WithScheme(s).WithRESTMapper(mapper).WithStatusSubresource(withStatus...).WithReturnManagedFields().
		WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}).Build()
	if opts == nil {
		opts = &operators.BackendOptions{}
	}
	opts.Clock = w.clock
	w.cache = w.client
	opts.Cache, opts.Cached = &cacheOf{w}, operators.WatchedKinds(nil)
	backend, err := operators.New(interceptor.NewClient(w.client, w.intercept()), opts)
	if err != nil {
		t.Fatal(err)
	}
	w.backend = backend
	w.restart()
	return w
}

// register makes a kind known before the fake client sees only its metadata.
func register(s *runtime.Scheme, k schema.GroupVersionKind) {
	s.AddKnownTypeWithName(k, &unstructured.Unstructured{})
	s.AddKnownTypeWithName(k.GroupVersion().WithKind(k.Kind+"List"), &unstructured.UnstructuredList{})
}

func mapperKnows(m meta.RESTMapper, k schema.GroupVersionKind) bool {
	_, err := m.RESTMapping(k.GroupKind(), k.Version)
	return err == nil
}

// restart makes a new Runner with the saved state.
func (w *world) restart() {
	var backend install.Backend = w.backend
	if w.trace != nil {
		backend = install.Traced(backend, w.trace)
	}
	var err error
	if w.runner, err = install.NewRunner(backend, w.backend.Resolve, nil, &fairlead.RunnerOptions{Clock: w.clock, Store: w.store}); err != nil {
		w.t.Fatal(err)
	}
}

func object(k schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(k)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// intercept records the writes of the backend, and makes them fail.
func (w *world) intercept() interceptor.Funcs {
	do := func(verb string, o client.Object, carryOut func() error) error {
		w.mu.Lock()
		w.writes = append(w.writes, verb+" "+o.GetObjectKind().GroupVersionKind().Kind+" "+o.GetName())
		fail := w.fail
		w.mu.Unlock()
		if fail != nil {
			if err, carriedOut := fail(verb, o); err != nil {
				if carriedOut {
					if err := carryOut(); err != nil {
						return err
					}
				}
				return err
			}
		}
		return carryOut()
	}
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			w.read(c, "get", o, key.Name)
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			w.read(c, "list", list, "")
			if w.gone != "" && list.GetObjectKind().GroupVersionKind().Kind == w.gone+"List" {
				return apierrors.NewNotFound(schema.GroupResource{}, "")
			}
			return c.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return do("create", o, func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return do("update", o, func() error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return do("patch", o, func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return do("patch "+sub, o, func() error {
				if err := w.sameRevision(ctx, o, p); err != nil {
					return err
				}
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			})
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			text, err := json.Marshal(o)
			if err != nil {
				return err
			}
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(text); err != nil {
				return err
			}
			return do("apply", u, func() error { return c.Apply(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			var d client.DeleteOptions
			d.ApplyOptions(opts)
			if d.Preconditions == nil || d.Preconditions.UID == nil || d.Preconditions.ResourceVersion == nil {
				w.t.Errorf("delete of %s %s without preconditions", o.GetObjectKind().GroupVersionKind().Kind, o.GetName())
			}
			return do("delete", o, func() error { return c.Delete(ctx, o, opts...) })
		},
	}
}

// read records a read.
func (w *world) read(c client.Client, verb string, o runtime.Object, name string) {
	w.t.Helper()
	k, err := c.GroupVersionKindFor(o)
	w.must(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads = append(w.reads, strings.TrimSpace(verb+" "+strings.TrimSuffix(k.Kind, "List")+" "+name))
}

// cacheOf is the cache of a world, which may be replaced.
type cacheOf struct{ w *world }

func (c *cacheOf) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.w.cache.Get(ctx, key, o, opts...)
}

func (c *cacheOf) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.w.cache.List(ctx, list, opts...)
}

// sameRevision refuses a patch of a status that names another resourceVersion, as
// the server does and the fake client does not.
func (w *world) sameRevision(ctx context.Context, o client.Object, p client.Patch) error {
	text, err := p.Data(o)
	if err != nil {
		return err
	}
	var ops []struct {
		Path  string
		Value any
	}
	if err := json.Unmarshal(text, &ops); err != nil {
		return err
	}
	k := o.GetObjectKind().GroupVersionKind()
	found := object(k, "", "")
	if err := w.client.Get(ctx, client.ObjectKeyFromObject(o), found); err != nil {
		return err
	}
	for _, op := range ops {
		if op.Path == "/metadata/resourceVersion" && op.Value == found.GetResourceVersion() {
			return nil
		}
	}
	return apierrors.NewConflict(resource(o), o.GetName(), errors.New("the object has been modified"))
}

// pass makes one pass of the engine, and then one of the simulated controllers.
func (w *world) pass() (install.Decision, error) {
	w.t.Helper()
	d, err := w.runner.Reconcile(w.t.Context(), ns)
	w.backend.Read()
	w.play()
	w.clock.Advance(time.Second)
	return d, err
}

// run makes passes until nothing changes; at most n. It returns the errors of
// the passes.
func (w *world) run(n int) (last install.Decision, errs []error) {
	w.t.Helper()
	quiet := 0
	for range n {
		d, err := w.pass()
		if err != nil {
			errs = append(errs, err)
		}
		last = d
		quiet++
		if soon := d.Wake.Before(w.clock.Now().Add(2 * time.Minute)); len(d.Actions) > 0 || err != nil || !d.Wake.IsZero() && soon {
			quiet = 0
			if len(d.Actions) == 0 && d.Wake.After(w.clock.Now()) {
				w.clock.Set(d.Wake)
			}
		}
		if quiet == 3 {
			return last, errs
		}
	}
	w.t.Fatalf("not quiet after %d passes: %v, %v", n, keys(last.Actions), errs)
	return last, errs
}

func keys(actions []install.Action) []string {
	var all []string
	for _, a := range actions {
		all = append(all, a.String())
	}
	return all
}

// play simulates the server and its controllers: UIDs, established CRDs, ready
// deployments, garbage collection.
func (w *world) play() {
	w.t.Helper()
	ctx := w.t.Context()
	var crds unstructured.UnstructuredList
	crds.SetGroupVersionKind(crdKind.GroupVersion().WithKind("CustomResourceDefinitionList"))
	w.must(w.client.List(ctx, &crds))
	for i := range crds.Items {
		o := &crds.Items[i]
		if _, done, _ := unstructured.NestedSlice(o.Object, "status", "conditions"); !done {
			o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
			w.must(w.client.Status().Update(ctx, o))
		}
	}
	for _, o := range w.all(apiServiceKind) {
		if _, done, _ := unstructured.NestedSlice(o.Object, "status", "conditions"); !done {
			o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
			w.must(w.client.Update(ctx, &o))
		}
	}
	var deployments appsv1.DeploymentList
	w.must(w.client.List(ctx, &deployments))
	for i := range deployments.Items {
		d := &deployments.Items[i]
		if d.Status.AvailableReplicas == 0 {
			d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
			w.must(w.client.Status().Update(ctx, d))
		}
	}
	w.collect(ctx)
}

// collect gives CSVs a UID, and removes objects owned by one that is gone.
func (w *world) collect(ctx context.Context) {
	w.t.Helper()
	there := map[types.UID]bool{}
	for _, o := range w.all(csvKind) {
		if o.GetUID() == "" {
			w.uids++
			o.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uids)))
			w.must(w.client.Update(ctx, &o))
		}
		there[o.GetUID()] = true
	}
	for _, k := range []schema.GroupVersionKind{
		kind("apps", "v1", "Deployment"), kind("", "v1", "ServiceAccount"), kind("", "v1", "Service"),
		kind("rbac.authorization.k8s.io", "v1", "Role"), kind("rbac.authorization.k8s.io", "v1", "RoleBinding"), conditionKind,
	} {
		for _, o := range w.all(k) {
			for _, r := range o.GetOwnerReferences() {
				if !there[r.UID] {
					w.must(w.client.Delete(ctx, &o))
				}
			}
		}
	}
}

func (w *world) all(k schema.GroupVersionKind) []unstructured.Unstructured {
	w.t.Helper()
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
	w.must(w.client.List(w.t.Context(), &list))
	return list.Items
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	w.must(w.client.Create(w.t.Context(), o))
}

func (w *world) get(k schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	w.t.Helper()
	o := object(k, namespace, name)
	w.must(w.client.Get(w.t.Context(), client.ObjectKeyFromObject(o), o))
	return o
}

// stock creates a catalog in a ConfigMap, an operator group and a subscription
// to pipes.
func (w *world) stock(approval string, versions ...shelf.Version) {
	w.t.Helper()
	w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "plumbing"}, Data: map[string]string{"catalog.json": shelf.Catalog(versions...)}})
	source := object(catalogKind, ns, "plumbing")
	source.Object["spec"] = map[string]any{"sourceType": "configmap", "configMap": "plumbing"}
	w.create(source)
	group := object(groupKind, ns, "plumbing")
	group.Object["spec"] = map[string]any{"targetNamespaces": []any{ns}}
	w.create(group)
	w.create(subscription(approval))
}

func subscription(approval string) *unstructured.Unstructured {
	s := object(subscriptionKind, ns, "pipes")
	s.Object["spec"] = map[string]any{"name": "pipes", "channel": "stable", "source": "plumbing", "sourceNamespace": ns, "installPlanApproval": approval}
	return s
}

// phases returns the phases of all CSVs.
func (w *world) phases() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, o := range w.all(csvKind) {
		all[o.GetName()], _, _ = unstructured.NestedString(o.Object, "status", "phase")
	}
	return all
}

func (w *world) wantPhases(want map[string]string) {
	w.t.Helper()
	if got := w.phases(); !maps.Equal(got, want) {
		w.t.Fatalf("CSVs %v, want %v", got, want)
	}
}

// approve approves the plans that wait for it.
func (w *world) approve() {
	w.t.Helper()
	for _, p := range w.all(planKind) {
		if approved, _, _ := unstructured.NestedBool(p.Object, "spec", "approved"); !approved {
			w.must(unstructured.SetNestedField(p.Object, true, "spec", "approved"))
			w.must(w.client.Update(w.t.Context(), &p))
		}
	}
}

// count returns how many writes begin with write.
func (w *world) count(write string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, x := range w.writes {
		if x == write {
			n++
		}
	}
	return n
}

// reasons returns the reasons of the blocks of a decision, each once.
func reasons(blocked []fairlead.Block) []string {
	var all []string
	for _, b := range blocked {
		all = append(all, b.Reason)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
