package operators_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pit is a catalog service, and a registry, that never answers.
type pit struct{ ended chan bool }

func (p pit) Catalog(context.Context, string, string) (*catalog.Catalog, string, error) {
	<-p.ended
	return nil, "", errors.New("ended")
}

func (p pit) Open(context.Context, string) (fs.FS, error) {
	<-p.ended
	return nil, errors.New("ended")
}

// TestHangingSources: the sources of one namespace, however many, do not hold up another.
func TestHangingSources(t *testing.T) {
	p := pit{make(chan bool)}
	defer close(p.ended)
	w := newWorld(t, &operators.BackendOptions{Services: p, Images: p})
	w.stock("Automatic", onlyPipes())
	for _, name := range strings.Fields("a b c d e f") {
		o := object(catalogKind, "tenant", name)
		o.Object["spec"] = map[string]any{"sourceType": "grpc", "address": name + ".tenant.svc:1"}
		w.create(o)
		w.create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: name}})
		image := object(catalogKind, "tenant", "i"+name)
		image.SetAnnotations(map[string]string{operators.ServedAnnotation: `{"image":"registry.example/x:v1"}`})
		image.Object["spec"] = map[string]any{"sourceType": "grpc", "image": "registry.example/x:v1"}
		w.create(image)
	}
	done := make(chan error)
	go func() {
		for range 40 {
			if _, err := w.runner.Reconcile(t.Context(), ns); err != nil {
				done <- err
			}
			w.play()
			w.clock.Advance(time.Second)
		}
		close(done)
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the namespace waits for the sources of another")
	}
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded"})
}

// TestAddresses: a source names services of its own namespace, which do not stand for
// other hosts; what its status says does not tell what is there.
func TestAddresses(t *testing.T) {
	s := &service{err: errors.New("dial tcp 10.0.0.7:22: connection refused")}
	w := newWorld(t, &operators.BackendOptions{Services: s, Tenants: operators.Tenants{Hosts: []string{"shop.example.com"}}})
	w.stock("Automatic", onlyPipes())
	w.create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "own"}})
	w.create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "alias"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "metadata.internal"}})
	allowed := map[string]string{"x0": "own.plumbing.svc:50051", "x1": "http://own.plumbing.svc.cluster.local/catalogs/a", "x2": "https://shop.example.com/catalogs/a"}
	refused := map[string]string{
		"y0": "127.0.0.1:22", "y1": "unix:///run/x.sock", "y2": "unix:/run/x.sock", "y3": "file:///etc/passwd", "y4": "http://169.254.169.254/latest", "y5": "own.other.svc:50051",
		"y6": "alias.plumbing.svc:50051", "y7": "http://user:pw@own.plumbing.svc/x", "y8": "dns:///own.plumbing.svc:1", "y9": "own.plumbing.svc.evil.example:1", "z0": "http://own.plumbing.svc@evil.example/x",
		"z1": "passthrough:///10.0.0.1:1", "z2": "own:50051", "z3": "nothing.plumbing.svc:50051",
	}
	for _, list := range []map[string]string{allowed, refused} {
		for name, address := range list {
			o := object(catalogKind, ns, name)
			o.Object["spec"] = map[string]any{"sourceType": "grpc", "address": address}
			w.create(o)
		}
	}
	for range 30 {
		_, _ = w.pass()
	}
	asked := strings.Join(s.asked, "\n")
	for name, address := range allowed {
		if !strings.Contains(asked, address) {
			t.Errorf("%s was not asked: %s", address, asked)
		}
		message, _, _ := unstructured.NestedString(w.get(catalogKind, ns, name).Object, "status", "message")
		if message == "" || strings.Contains(message, "refused") {
			t.Errorf("%s: its status says %q", address, message)
		}
	}
	for name, address := range refused {
		if strings.Contains(asked, address) {
			t.Errorf("%s was asked", address)
		}
		if message, _, _ := unstructured.NestedString(w.get(catalogKind, ns, name).Object, "status", "message"); message == "" {
			t.Errorf("%s: its status says nothing", address)
		}
	}
}

// TestTenantBudget: a namespace's catalogs take no more memory than they may.
func TestTenantBudget(t *testing.T) {
	text := shelf.Catalog(onlyPipes())
	opened := images(func(string) (fs.FS, error) { return fstest.MapFS{"catalog.json": {Data: []byte(text)}}, nil })
	w := newWorld(t, &operators.BackendOptions{Images: opened, Tenants: operators.Tenants{MaxSize: int64(len(text)) + 100}})
	w.stock("Automatic", onlyPipes())
	for _, name := range []string{"a", "b"} {
		o := object(catalogKind, ns, name)
		o.Object["spec"] = map[string]any{"sourceType": "grpc", "image": "registry.example/" + name + ":v1"}
		w.create(o)
	}
	for range 30 {
		_, _ = w.pass()
	}
	states := map[string]int{}
	for _, name := range []string{"a", "b"} {
		state, _, _ := unstructured.NestedString(w.get(catalogKind, ns, name).Object, "status", "connectionState", "lastObservedState")
		states[state]++
	}
	if states["READY"] != 1 || states["TRANSIENT_FAILURE"] != 1 {
		t.Errorf("states %v", states)
	}
}

type images func(image string) (fs.FS, error)

func (f images) Open(_ context.Context, image string) (fs.FS, error) { return f(image) }
