package clusterversion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

const (
	digestA = "sha256:aaaa"
	digestB = "sha256:bbbb"
	imageA  = "registry.example/release@" + digestA
	imageB  = "registry.example/release@" + digestB
)

var (
	noon     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	releaseA = cvo.Release{Version: "1.0.0", Image: imageA}
)

// cluster is an API server in memory, a backend for it, and the recorded
// writes.
type cluster struct {
	client.WithWatch
	t       *testing.T
	clock   *fairlead.ManualClock
	changed chan struct{}
	source  source
	backend *clusterversion.Backend
	opts    clusterversion.Options

	mu    sync.Mutex
	asked []string
	gets  int                     // how often the ClusterVersion was read
	drops string                  // the status field that the server does not know
	fail  func(call string) error // called before a write
	lost  func(call string) error // called after a write
}

// source contains releases in memory, by image.
type source map[string]fs.FS

func (s source) Open(_ context.Context, r cvo.Release) (fs.FS, error) {
	if s[r.Image] == nil {
		return nil, fmt.Errorf("there is no image %s", r.Image)
	}
	return s[r.Image], nil
}

func newCluster(t *testing.T, opts clusterversion.Options, objects ...client.Object) *cluster {
	c := &cluster{
		t: t, clock: &fairlead.ManualClock{}, changed: make(chan struct{}, 100), source: source{},
		fail: func(string) error { return nil }, lost: func(string) error { return nil },
	}
	c.clock.Set(noon)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c.WithWatch = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithReturnManagedFields().
		WithStatusSubresource(object("config.openshift.io/v1", "ClusterVersion", ""), object("config.openshift.io/v1", "ClusterOperator", "")).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if kindOf(o) == "ClusterVersion" && ctx.Value(reporting{}) == nil {
					c.gets++
				}
				if kindOf(o) == "ConfigMap" && strings.HasPrefix(key.Name, "admin-") {
					if err := c.fail("get ConfigMap/" + key.Name); err != nil {
						return err
					}
				}
				return next.Get(ctx, key, o, opts...)
			},
			Apply: func(ctx context.Context, next client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
				given := client.ApplyOptions{}
				given.ApplyOptions(opts)
				data, err := json.Marshal(o)
				if err != nil {
					t.Error(err)
				}
				var u unstructured.Unstructured
				if err := json.Unmarshal(data, &u.Object); err != nil {
					t.Error(err)
				}
				force := ""
				if given.Force != nil && *given.Force {
					force = " force"
				}
				return c.write(fmt.Sprintf("apply %s/%s by %s%s", u.GetKind(), u.GetName(), given.FieldManager, force), func() error { return next.Apply(ctx, o, opts...) })
			},
			Create: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				return c.write("create "+kindOf(o)+"/"+o.GetName(), func() error { return next.Create(ctx, o, opts...) })
			},
			Delete: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				given := client.DeleteOptions{}
				given.ApplyOptions(opts)
				uid := "none"
				if given.Preconditions != nil && given.Preconditions.UID != nil {
					uid = string(*given.Preconditions.UID)
				}
				return c.write(fmt.Sprintf("delete %s/%s uid=%s", kindOf(o), o.GetName(), uid), func() error { return next.Delete(ctx, o, opts...) })
			},
			SubResourceUpdate: func(ctx context.Context, next client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
				given := client.SubResourceUpdateOptions{}
				given.ApplyOptions(opts)
				write := c.write
				if len(given.DryRun) > 0 {
					write = func(_ string, do func() error) error { return do() }
				}
				return write("update "+kindOf(o)+"/"+sub, func() error {
					live := &unstructured.Unstructured{}
					live.SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
					if err := next.Get(ctx, client.ObjectKeyFromObject(o), live); err != nil {
						return err
					}
					if live.GetResourceVersion() != o.GetResourceVersion() { // the fake client does not check it
						return apierrors.NewConflict(schema.GroupResource{Group: "config.openshift.io", Resource: "x"}, o.GetName(), errors.New("it was modified"))
					}
					if c.drops != "" { // as a server drops fields that a definition does not have
						unstructured.RemoveNestedField(o.(*unstructured.Unstructured).Object, strings.Split(c.drops, ".")...)
					}
					if sent, ok := o.(*unstructured.Unstructured); ok && strings.HasPrefix(sent.GetAPIVersion(), "config.openshift.io/") && len(given.DryRun) == 0 && reflect.DeepEqual(sent.Object["status"], live.Object["status"]) {
						t.Errorf("a status is written that is there already: %v", live.Object["status"])
					}
					return next.SubResource(sub).Update(ctx, o, opts...)
				})
			},
		}).Build()
	opts.Clock = c.clock
	if opts.Parallel == 0 {
		opts.Parallel = 1 // so that the order of calls is deterministic
	}
	if opts.Source == nil {
		opts.Source = c.source
	}
	opts.Changed = func() { c.changed <- struct{}{} }
	c.opts = opts
	c.restart()
	return c
}

// restart gives the cluster a new backend without memory of earlier actions.
func (c *cluster) restart() {
	c.t.Helper()
	opts := c.opts
	b, err := clusterversion.New(c, &opts)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(b.Close)
	c.backend = b
}

func kindOf(o client.Object) string { return o.GetObjectKind().GroupVersionKind().Kind }

// write records a call and carries it out, unless it should fail.
func (c *cluster) write(call string, do func() error) error {
	c.mu.Lock()
	c.asked = append(c.asked, call)
	fail, lost := c.fail, c.lost
	c.mu.Unlock()
	if err := fail(call); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return lost(call)
}

// calls returns the writes since the last call.
func (c *cluster) calls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.asked
	c.asked = nil
	return out
}

// retrieved waits for background work.
func (c *cluster) retrieved() {
	c.t.Helper()
	select {
	case <-c.changed:
	case <-time.After(20 * time.Second):
		c.t.Fatal("nothing was retrieved")
	}
}

func (c *cluster) observe() *cvo.World {
	c.t.Helper()
	w, err := c.backend.Observe(c.t.Context(), "version")
	if err != nil {
		c.t.Fatal(err)
	}
	return w
}

// read returns an object; nil if there is none.
func (c *cluster) read(apiVersion, kind, name string) *unstructured.Unstructured {
	c.t.Helper()
	u := object(apiVersion, kind, name)
	err := c.Get(c.t.Context(), client.ObjectKeyFromObject(u), u)
	if client.IgnoreNotFound(err) != nil {
		c.t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return u
}

// edit changes an object without the backend.
func (c *cluster) edit(u *unstructured.Unstructured, field string, value any) {
	c.t.Helper()
	set(u, field, value)
	c.mu.Lock()
	saved := c.asked
	c.mu.Unlock()
	var err error
	if field == "status" {
		err = c.Status().Update(c.t.Context(), u)
	} else {
		err = c.Update(c.t.Context(), u)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.asked = saved
	c.mu.Unlock()
}

// object returns an object with the name "namespace/name" or "name".
func object(apiVersion, kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	if ns, n, ok := strings.Cut(name, "/"); ok {
		u.SetNamespace(ns)
		name = n
	}
	u.SetName(name)
	return u
}

// set sets a field, such as spec.replicas, to a value written as YAML.
func set(u *unstructured.Unstructured, field string, value any) *unstructured.Unstructured {
	if text, ok := value.(string); ok {
		var parsed any
		if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
			panic(err)
		}
		value = parsed
	}
	if err := unstructured.SetNestedField(u.Object, runtime.DeepCopyJSONValue(whole(value)), strings.Split(field, ".")...); err != nil {
		panic(err)
	}
	return u
}

// whole converts whole numbers to integers.
func whole(v any) any {
	switch v := v.(type) {
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	case int:
		return int64(v)
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	}
	return v
}

func clusterVersion() *unstructured.Unstructured {
	return set(object("config.openshift.io/v1", "ClusterVersion", "version"), "spec", "{channel: stable-1}")
}

// manifest reads one manifest, with the annotation that makes it part of a
// release.
func manifest(t *testing.T, text string) *payload.Manifest {
	t.Helper()
	found, err := payload.ReadManifests("0000_50_x_a.yaml", []byte(text), nil)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d manifests, %v", len(found), err)
	}
	return found[0]
}

// files returns the files of a release, given manifests by file name.
func files(version string, manifests map[string]string) fstest.MapFS {
	out := fstest.MapFS{
		"manifests/README":                   {Data: []byte("none")},
		"release-manifests/release-metadata": {Data: fmt.Appendf(nil, `{"kind":"cincinnati-metadata-v0","version":%q}`, version)},
		"release-manifests/image-references": {Data: fmt.Appendf(nil, `{"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":%q}}`, version)},
	}
	for name, text := range manifests {
		text = strings.ReplaceAll(text, "VERSION", version)
		text = strings.ReplaceAll(text, "annotations: {", `annotations: {include.release.openshift.io/self-managed-high-availability: "true", `)
		out["release-manifests/"+name+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}
