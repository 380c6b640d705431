package operators_test

import (
	"slices"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/worlds"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/config"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/install"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestFacts checks that every field of the engine's World is filled in.
func TestFacts(t *testing.T) {
	w := newWorld(t, &operators.BackendOptions{
		ClusterVersion: "4.18.0", KubeVersion: "1.33.0", ReportNamespace: ns, Proxy: &config.Proxy{HTTP: "http://proxy.example"}, Copies: &group.CopyOptions{Disabled: true},
	})
	w.stock("Automatic", meters())
	g := w.get(groupKind, ns, "plumbing")
	g.Object["spec"] = map[string]any{}
	w.must(w.client.Update(t.Context(), g))
	m := w.get(kind("", "v1", "ConfigMap"), ns, "plumbing")
	w.must(unstructured.SetNestedField(m.Object, shelf.Catalog(meters())+
		`{"schema": "olm.deprecations", "package": "pipes", "entries": [{"reference": {"schema": "olm.package"}, "message": "use tubes"}]}`, "data", "catalog.json"))
	w.must(w.client.Update(t.Context(), m))
	var observed []*install.World
	for i := range 24 {
		_, _ = w.pass() // failures are retried
		if i%4 == 3 {
			seen, err := w.backend.Observe(t.Context(), ns)
			w.must(err)
			observed = append(observed, seen)
		}
	}
	pipe := object(kind(shelf.Group, "v1", "Pipe"), ns, "p")
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "r"}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "installer"}}
	for _, o := range []client.Object{pipe, role, account} {
		w.must(w.client.Create(t.Context(), o))
	}
	g = w.get(groupKind, ns, "plumbing")
	g.Object["spec"] = map[string]any{"serviceAccountName": "installer"}
	w.must(w.client.Update(t.Context(), g))
	s := w.get(subscriptionKind, ns, "pipes") // removing it depends on the objects of its CRDs
	s.SetAnnotations(map[string]string{install.RemovalAnnotation: "true"})
	w.must(w.client.Update(t.Context(), s))
	seen, err := w.backend.Observe(t.Context(), ns)
	w.must(err)
	observed = append(observed, seen)
	// The Runner sets Outcomes, Resolution and Refusal.
	if unset := worlds.Unset(observed...); !slices.Equal(unset, []string{"Outcomes", "Refusal", "Resolution"}) {
		t.Errorf("unset fields: %q", unset)
	}
}
