package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/extension"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// installer creates a service account that may write everything, and delete in its namespace and what
// has none.
func (w *world) installer() {
	w.Helper()
	one := func(group string, verbs []string, resources ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: resources, Verbs: verbs}}
	}
	name := metav1.ObjectMeta{Name: "installer"}
	here := metav1.ObjectMeta{Name: "installer", Namespace: plumbing}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: plumbing, Name: "installer"}}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "installer"}
	writes := one("*", []string{"get", "list", "watch", "create", "update", "patch", "escalate", "bind"}, "*")
	for _, o := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: here},
		&rbacv1.ClusterRole{ObjectMeta: name, Rules: append(writes, one(rbacv1.GroupName, []string{"delete"}, "clusterroles", "clusterrolebindings")...)},
		&rbacv1.ClusterRoleBinding{ObjectMeta: name, Subjects: subjects, RoleRef: ref},
		&rbacv1.Role{ObjectMeta: here, Rules: one("*", []string{"delete"}, "*")},
		&rbacv1.RoleBinding{ObjectMeta: here, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "installer"}},
	} {
		w.create(o)
	}
}

// All that belongs to an extension is written and deleted in the name of its account, but CRDs. A
// service of another namespace that somebody labels as the extension's stays, because the account may
// not delete it; without the account nothing is written or deleted at all.
func TestExtensionAccount(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "crd/extensions-clusterextensions.yaml", "crd/extensions-clusterobjectsets.yaml", "crd/extensions-clustercatalogs.yaml", "rbac-extensions.yaml")
	w.namespace(plumbing)
	w.namespace("payroll")
	w.installer()
	if err := w.kubelets.AddNode(t.Context(), "n1", nil); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	dir := filepath.Join(root, "example.com", "plumbing:1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "catalog.json"), []byte(shelf.Catalog(pipesV1()[0])), 0o644); err != nil {
		t.Fatal(err)
	}
	w.create(extensionObject("ClusterCatalog", "plumbing", map[string]any{"source": map[string]any{"type": "Image", "image": map[string]any{"ref": "example.com/plumbing:1"}}}))
	w.create(extensionObject("ClusterExtension", "pipes", map[string]any{
		"namespace": plumbing, "serviceAccount": map[string]any{"name": "installer"},
		"source": map[string]any{"sourceType": "Catalog", "catalog": map[string]any{"packageName": "pipes"}},
	}))
	operator.Start(t, w.Cluster, "-controllers=extensions", "-leader-elect=false", "-extensions-require-accounts", "-extensions-images="+root)
	w.extensionIs("pipes.v1.0.0", "Succeeded", "")

	labels := map[string]string{extension.OwnerKindLabel: "ClusterExtension", extension.OwnerNameLabel: "pipes"}
	ledger := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "payroll", Name: "ledger", Labels: labels}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	w.create(ledger)
	w.extensionIs("pipes.v1.0.0", "Retrying", "ledger")
	w.editExtension(`{"spec":{"serviceAccount":null}}`)
	w.extensionIs("pipes.v1.0.0", "Retrying", "names no service account")
	if err := w.admin.Delete(t.Context(), extensionObject("ClusterExtension", "pipes", nil)); err != nil {
		t.Fatal(err)
	}
	w.still()
	if got := w.left(); len(got) < 5 {
		t.Errorf("without an account only %q are left", got)
	}
	w.editExtension(`{"spec":{"serviceAccount":{"name":"installer"}}}`)
	w.extensionIs("", "Retrying", "ledger") // its revisions are archived
	if err := w.admin.Patch(t.Context(), ledger, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":null}}`))); err != nil {
		t.Fatal(err)
	}
	w.eventually("the extension is gone", func() string {
		u := extensionObject("ClusterExtension", "pipes", nil)
		return expect(fmt.Sprint(apierrors.IsNotFound(w.admin.Get(t.Context(), client.ObjectKeyFromObject(u), u))), "true")
	})
	if got := w.left(); got != nil {
		t.Errorf("it has left %q", got)
	}
	if err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(ledger), ledger); err != nil {
		t.Error(err)
	}
	own, byAccount := []string{"customresourcedefinitions", "clusterobjectsets", "configmaps"}, 0 // its state is in config maps
	for _, r := range w.requests(cluster.Filter{User: operator.User, Verb: "delete"}) {
		switch {
		case r.As != "":
			byAccount++
		case !slices.Contains(own, r.Resource):
			t.Errorf("deleted with its own rights: %s", r.URI)
		}
	}
	if byAccount < 5 {
		t.Errorf("%d deletions in the name of the account", byAccount)
	}
}
