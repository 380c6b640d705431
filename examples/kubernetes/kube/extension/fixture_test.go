package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"io/fs"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/extension"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	engine "github.com/fairlead/fairlead/solver/olm/extension"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const ns = "plumbing"

func kind(group, version, name string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: name}
}

var (
	extensionKind  = kind("olm.operatorframework.io", "v1", "ClusterExtension")
	catalogKind    = kind("olm.operatorframework.io", "v1", "ClusterCatalog")
	revisionKind   = kind("olm.operatorframework.io", "v1", "ClusterObjectSet")
	crdKind        = kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
	deploymentKind = kind("apps", "v1", "Deployment")
)

// images contains catalogs and bundles by name.
type images map[string]string

// Open returns an image that contains one catalog.
func (m images) Open(_ context.Context, image string) (fs.FS, error) {
	if text, ok := m[image]; ok {
		return fstest.MapFS{"catalog.json": {Data: []byte(text)}}, nil
	}
	return nil, fmt.Errorf("image %s: %w", image, fs.ErrNotExist)
}

// world is a fake API server, with simulated controllers, and an engine.
type world struct {
	*testing.T
	client  client.WithWatch // as users and controllers see it
	backend *extension.Backend
	runner  *engine.Runner
	images  images
	as      func(namespace, account string) (client.Client, error) // takes effect with the next restart
	clock   *fairlead.ManualClock
	store   *fairlead.MemStore
	uids    int
	cache   client.Reader // the backend's cache; by default it has what the server has
	writes  []string      // of the backend, in order: verb, kind, name; without dry runs
	reads   []string      // likewise
	dry     int           // the number of dry runs
	// fail is called before each write of the backend; the write fails with the
	// error that it returns. If carriedOut is true, the write takes place
	// anyway.
	fail func(write string) (err error, carriedOut bool)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, clock: &fairlead.ManualClock{}, store: &fairlead.MemStore{}, images: images{}}
	w.clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme} {
		w.must(add(s))
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{
		{Version: "v1"}, {Group: "apps", Version: "v1"}, {Group: "rbac.authorization.k8s.io", Version: "v1"}, {Group: "apiextensions.k8s.io", Version: "v1"},
	})
	for _, k := range []schema.GroupVersionKind{
		kind("", "v1", "ServiceAccount"), kind("", "v1", "Service"), kind("", "v1", "ConfigMap"), kind("", "v1", "Secret"), deploymentKind,
		kind("rbac.authorization.k8s.io", "v1", "Role"), kind("rbac.authorization.k8s.io", "v1", "RoleBinding"),
	} {
		mapper.Add(k, meta.RESTScopeNamespace)
	}
	for _, k := range []schema.GroupVersionKind{kind("rbac.authorization.k8s.io", "v1", "ClusterRole"), kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"), kind("", "v1", "Namespace")} {
		mapper.Add(k, meta.RESTScopeRoot)
	}
	var withStatus []client.Object
	for _, k := range []schema.GroupVersionKind{extensionKind, catalogKind, revisionKind, crdKind, kind(shelf.Group, "v1", "Pipe"), kind(shelf.Group, "v1", "Valve")} {
		mapper.Add(k, meta.RESTScopeRoot)
		s.AddKnownTypeWithName(k, &unstructured.Unstructured{})
		s.AddKnownTypeWithName(k.GroupVersion().WithKind(k.Kind+"List"), &unstructured.UnstructuredList{})
		withStatus = append(withStatus, object(k, ""))
	}
	withStatus = append(withStatus, &appsv1.Deployment{})
	w.client = fake.NewClientBuilder().WithScheme(s).WithRESTMapper(mapper).WithStatusSubresource(withStatus...).WithReturnManagedFields().WithTypeConverters(managedfields.NewDeducedTypeConverter()).
		WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}).Build()
	w.cache = w.client
	w.restart()
	return w
}

// restart makes a new Backend, and a new Runner with the saved state.
func (w *world) restart() {
	w.Helper()
	w.backend = extension.New(interceptor.NewClient(w.client, w.intercept()), &extension.BackendOptions{
		As: w.as, Images: w.images, Clock: w.clock, Cache: &cacheOf{w}, Cached: extension.WatchedKinds(nil),
	})
	var err error
	w.runner, err = engine.NewRunner(w.backend, w.backend.Resolve, nil, &fairlead.RunnerOptions{Clock: w.clock, Store: w.store})
	w.must(err)
}

// cacheOf is the cache of a world, which may be replaced.
type cacheOf struct{ w *world }

func (c *cacheOf) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.w.cache.Get(ctx, key, o, opts...)
}

func (c *cacheOf) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.w.cache.List(ctx, list, opts...)
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func object(k schema.GroupVersionKind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(k)
	u.SetName(name)
	return u
}

// intercept records the writes of the backend, makes them fail, and simulates
// what the fake client does not support: dry runs, and patches of a status at a
// revision.
func (w *world) intercept() interceptor.Funcs {
	do := func(verb string, o client.Object, carryOut func() error) error {
		write := verb + " " + o.GetObjectKind().GroupVersionKind().Kind + " " + o.GetName()
		w.writes = append(w.writes, write)
		if w.fail != nil {
			if err, carriedOut := w.fail(write); err != nil {
				if carriedOut {
					w.must(carryOut())
				}
				return err
			}
		}
		return carryOut()
	}
	read := func(verb string, o runtime.Object, name string) {
		k, err := w.client.GroupVersionKindFor(o)
		w.must(err)
		w.reads = append(w.reads, strings.TrimSpace(verb+" "+strings.TrimSuffix(k.Kind, "List")+" "+name))
	}
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			read("get", o, key.Name)
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			read("list", list, "")
			return c.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return do("create", o, func() error { return c.Create(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return do("patch", o, func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return do("patch "+sub, o, func() error {
				text, err := p.Data(o)
				w.must(err)
				found := object(o.GetObjectKind().GroupVersionKind(), "")
				if err := w.client.Get(ctx, client.ObjectKeyFromObject(o), found); err != nil {
					return err
				}
				if !strings.Contains(string(text), `"value":"`+found.GetResourceVersion()+`"`) {
					return apierrors.NewConflict(schema.GroupResource{}, o.GetName(), errors.New("the object has been modified"))
				}
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			})
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			text, err := json.Marshal(o)
			w.must(err)
			u := &unstructured.Unstructured{}
			w.must(u.UnmarshalJSON(text))
			var how client.ApplyOptions
			how.ApplyOptions(opts)
			if slices.Contains(how.DryRun, metav1.DryRunAll) {
				w.dry++
				return w.would(u, o)
			}
			return do("apply", u, func() error { return c.Apply(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			var d client.DeleteOptions
			d.ApplyOptions(opts)
			if d.Preconditions == nil || d.Preconditions.UID == nil || d.Preconditions.ResourceVersion == nil {
				w.Errorf("delete of %s %s without preconditions", o.GetObjectKind().GroupVersionKind().Kind, o.GetName())
			}
			return do("delete", o, func() error { return c.Delete(ctx, o, opts...) })
		},
	}
}

// would answers a dry run: the existing object, if it contains all that is
// applied.
func (w *world) would(u *unstructured.Unstructured, into any) error {
	is := object(u.GroupVersionKind(), "")
	if err := w.client.Get(w.Context(), client.ObjectKeyFromObject(u), is); err != nil {
		return err
	}
	if !within(u.Object, is.Object) {
		is.SetAnnotations(nil) // a different object
	}
	text, err := is.MarshalJSON()
	w.must(err)
	return json.Unmarshal(text, into)
}

func within(part, whole any) bool {
	switch p := part.(type) {
	case map[string]any:
		h, ok := whole.(map[string]any)
		for key, value := range p {
			ok = ok && within(value, h[key])
		}
		return ok
	case []any:
		h, ok := whole.([]any)
		ok = ok && len(h) == len(p)
		for i := range p {
			ok = ok && within(p[i], h[i])
		}
		return ok
	}
	return fmt.Sprint(part) == fmt.Sprint(whole)
}

// publish sets the versions in the catalog.
func (w *world) publish(versions ...shelf.Version) {
	w.Helper()
	image := fmt.Sprintf("example.com/plumbing:%d", len(w.images))
	w.images[image] = shelf.Catalog(versions...)
	u := object(catalogKind, "plumbing")
	err := w.client.Get(w.Context(), client.ObjectKeyFromObject(u), u)
	w.must(client.IgnoreNotFound(err))
	u.Object["spec"] = map[string]any{"source": map[string]any{"type": "Image", "image": map[string]any{"ref": image}}}
	if err != nil {
		w.must(w.client.Create(w.Context(), u))
		return
	}
	w.must(w.client.Update(w.Context(), u))
}

// ask creates an extension for pipes, or changes its requested version.
func (w *world) ask(version string) {
	w.Helper()
	u := object(extensionKind, "pipes")
	err := w.client.Get(w.Context(), client.ObjectKeyFromObject(u), u)
	w.must(client.IgnoreNotFound(err))
	u.SetGeneration(u.GetGeneration() + 1)
	u.Object["spec"] = map[string]any{"namespace": ns, "source": map[string]any{"sourceType": "Catalog", "catalog": map[string]any{"packageName": "pipes", "version": version}}}
	if err != nil {
		u.SetUID("uid-pipes")
		w.must(w.client.Create(w.Context(), u))
		return
	}
	w.must(w.client.Update(w.Context(), u))
}

// annotate sets an annotation of the extension, or removes it if the value is
// "".
func (w *world) annotate(key, value string) {
	w.Helper()
	u := w.get(extensionKind, "", "pipes")
	notes := u.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[key] = value
	if value == "" {
		delete(notes, key)
	}
	u.SetAnnotations(notes)
	w.must(w.client.Update(w.Context(), u))
}

// run makes passes until nothing changes.
func (w *world) run(each func()) engine.Decision {
	w.Helper()
	quiet := 0
	var last engine.Decision
	for range 80 {
		d, err := w.runner.Reconcile(w.Context(), "pipes")
		if err != nil && w.fail == nil {
			w.Fatal(err)
		}
		w.backend.Read()
		w.play()
		w.clock.Advance(2 * time.Second)
		if each != nil {
			each()
		}
		last = d
		quiet++
		if len(d.Actions) > 0 || err != nil || !d.Wake.IsZero() && d.Wake.Before(w.clock.Now().Add(time.Minute)) {
			quiet = 0
		}
		if quiet == 3 {
			return last
		}
	}
	w.Fatalf("not quiet: %v\n%v", last.Actions, last.Blocked)
	return last
}

// play simulates the server and its controllers: UIDs, established CRDs, ready
// deployments, and the garbage collector.
func (w *world) play() {
	w.Helper()
	owners := map[types.UID]bool{"uid-pipes": len(w.all(extensionKind)) > 0}
	for _, k := range w.kinds() {
		for _, u := range w.all(k) {
			if u.GetUID() == "" {
				w.uids++
				u.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uids)))
				w.must(w.client.Update(w.Context(), &u))
			}
			owners[u.GetUID()] = true
		}
	}
	conditions := func(kind string) []any { return []any{map[string]any{"type": kind, "status": "True"}} }
	for k, condition := range map[schema.GroupVersionKind]string{crdKind: "Established", deploymentKind: "Available"} {
		for _, u := range w.all(k) {
			if _, done, _ := unstructured.NestedSlice(u.Object, "status", "conditions"); !done {
				u.Object["status"] = map[string]any{"conditions": conditions(condition), "observedGeneration": u.GetGeneration()}
				w.must(w.client.Status().Update(w.Context(), &u))
			}
		}
	}
	for _, k := range w.kinds() {
		for _, u := range w.all(k) {
			if refs := u.GetOwnerReferences(); slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return !owners[r.UID] }) {
				w.must(w.client.Delete(w.Context(), &u))
			}
		}
	}
}

// kinds returns the kinds of revisions and of the objects in them.
func (w *world) kinds() []schema.GroupVersionKind {
	const rbac = "rbac.authorization.k8s.io"
	return []schema.GroupVersionKind{
		revisionKind, crdKind, deploymentKind, kind("", "v1", "ServiceAccount"), kind("", "v1", "Service"),
		kind(rbac, "v1", "Role"), kind(rbac, "v1", "RoleBinding"), kind(rbac, "v1", "ClusterRole"), kind(rbac, "v1", "ClusterRoleBinding"),
	}
}

func (w *world) all(k schema.GroupVersionKind) []unstructured.Unstructured {
	w.Helper()
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
	w.must(w.client.List(w.Context(), &list))
	return list.Items
}

func (w *world) get(k schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	w.Helper()
	u := object(k, name)
	u.SetNamespace(namespace)
	w.must(w.client.Get(w.Context(), client.ObjectKeyFromObject(u), u))
	return u
}

// made returns all objects, as "Kind name".
func (w *world) made() []string {
	w.Helper()
	var all []string
	for _, k := range w.kinds() {
		for _, u := range w.all(k) {
			all = append(all, k.Kind+" "+u.GetName())
		}
	}
	return all
}

// status returns "bundle: Installed Progressing" of the extension, with the
// reasons.
func (w *world) status() string {
	w.Helper()
	u := w.get(extensionKind, "", "pipes")
	bundle, _, _ := unstructured.NestedString(u.Object, "status", "install", "bundle", "name")
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range list {
		if c := c.(map[string]any); c["type"] == engine.TypeInstalled || c["type"] == engine.TypeProgressing {
			bundle += fmt.Sprintf(" %s %s %s", c["type"], c["status"], c["reason"])
		}
	}
	return bundle
}

func (w *world) wantStatus(want string) {
	w.Helper()
	if got := w.status(); got != want {
		w.Fatalf("status %q, want %q", got, want)
	}
}

// count returns how many writes begin with write.
func (w *world) count(write string) int {
	n := 0
	for _, x := range w.writes {
		if strings.HasPrefix(x, write) {
			n++
		}
	}
	return n
}
