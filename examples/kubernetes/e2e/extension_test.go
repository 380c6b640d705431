package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/serve"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/extension"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func extensionObject(kind, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "olm.operatorframework.io", Version: "v1", Kind: kind})
	u.SetName(name)
	return u
}

// pipesV1 returns three versions of a package; the last requires a field of its
// CRD.
func pipesV1() []shelf.Version {
	return []shelf.Version{
		{Package: "pipes", Number: "1.0.0", Kind: "Pipe", Served: []string{"v1"}, Fields: []string{"length"}},
		{Package: "pipes", Number: "1.1.0", Replaces: "1.0.0", Kind: "Pipe", Served: []string{"v1"}, Fields: []string{"length", "material"}},
		{Package: "pipes", Number: "2.0.0", Replaces: "1.1.0", Kind: "Pipe", Served: []string{"v1"}, Fields: []string{"length", "material!"}},
	}
}

// editExtension merges something into the extension.
func (w *world) editExtension(patch string) {
	w.Helper()
	w.eventually("the extension is edited", func() string {
		return problem(w.admin.Patch(w.Context(), extensionObject("ClusterExtension", "pipes", nil), client.RawPatch("application/merge-patch+json", []byte(patch))))
	})
}

// extensionIs waits until the extension has a bundle, and its condition
// Progressing a reason and a message with some text.
func (w *world) extensionIs(bundle, reason, text string) {
	w.Helper()
	w.eventually("the extension has "+bundle+", "+reason, func() string {
		u := extensionObject("ClusterExtension", "pipes", nil)
		if err := w.admin.Get(w.Context(), client.ObjectKeyFromObject(u), u); err != nil {
			return err.Error()
		}
		got, _, _ := unstructured.NestedString(u.Object, "status", "install", "bundle", "name")
		list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, c := range list {
			if c := c.(map[string]any); c["type"] == extension.TypeProgressing && c["reason"] == reason && strings.Contains(fmt.Sprint(c["message"]), text) && got == bundle {
				return ""
			}
		}
		return fmt.Sprintf("%q, %v", got, list)
	})
}

// left returns the existing objects of the extension, of any kind.
func (w *world) left() []string {
	w.Helper()
	var all []string
	const rbac = "rbac.authorization.k8s.io"
	for _, k := range []schema.GroupVersionKind{
		{Group: "olm.operatorframework.io", Version: "v1", Kind: "ClusterObjectSet"}, {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		{Group: "apps", Version: "v1", Kind: "Deployment"}, {Version: "v1", Kind: "ServiceAccount"}, {Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "Secret"},
		{Group: rbac, Version: "v1", Kind: "Role"}, {Group: rbac, Version: "v1", Kind: "RoleBinding"},
		{Group: rbac, Version: "v1", Kind: "ClusterRole"}, {Group: rbac, Version: "v1", Kind: "ClusterRoleBinding"},
	} {
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
		err := w.admin.List(w.Context(), &list, client.MatchingLabels{extension.OwnerNameLabel: "pipes"})
		if err != nil && !meta.IsNoMatchError(err) {
			w.Fatal(err)
		}
		for i := range list.Items {
			all = append(all, k.Kind+" "+list.Items[i].GetName())
		}
	}
	return all
}

// A cluster extension is installed within a range, updated when its catalog has
// more, kept from an update that would break an object, rolled back, and
// deleted without a trace. The catalog is an image at first, and then served as
// by catalogd. Meanwhile the manager is killed twice and the API server is
// down.
func TestExtension(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "crd/extensions-clusterextensions.yaml", "crd/extensions-clusterobjectsets.yaml", "crd/extensions-clustercatalogs.yaml", "rbac-extensions.yaml")
	w.namespace(plumbing)
	if err := w.kubelets.AddNode(t.Context(), "n1", nil); err != nil {
		t.Fatal(err)
	}
	root, all := t.TempDir(), pipesV1()
	publish := func(tag string, versions ...shelf.Version) {
		dir := filepath.Join(root, "example.com", "plumbing:"+tag)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "catalog.json"), []byte(shelf.Catalog(versions...)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	publish("1", all[0])
	publish("2", all[:2]...)
	shelved := extensionObject("ClusterCatalog", "plumbing", map[string]any{"source": map[string]any{"type": "Image", "image": map[string]any{"ref": "example.com/plumbing:1"}}})
	w.create(shelved)
	w.create(extensionObject("ClusterExtension", "pipes", map[string]any{"namespace": plumbing, "source": map[string]any{"sourceType": "Catalog", "catalog": map[string]any{"packageName": "pipes", "version": ">=1.0.0 <2.0.0"}}}))
	flags := []string{"-controllers=extensions", "-leader-elect=false", "-extensions-images=" + root, "-catalogs-on-this-host"}
	manager := operator.Start(t, w.Cluster, flags...)
	w.eventually("the first revision is there", func() string {
		return expect(fmt.Sprint(slices.Contains(w.left(), "ClusterObjectSet pipes-1")), "true")
	})
	manager.Kill()
	manager = operator.Start(t, w.Cluster, flags...)
	w.extensionIs("pipes.v1.0.0", "Succeeded", "")
	first := w.requests(cluster.Filter{User: operator.User})

	if err := w.admin.Patch(t.Context(), shelved, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"source":{"image":{"ref":"example.com/plumbing:2"}}}}`))); err != nil {
		t.Fatal(err)
	}
	w.outage(3 * time.Second)
	w.extensionIs("pipes.v1.1.0", "Succeeded", "")
	pipe := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"length": "3 m"}}}
	pipe.SetGroupVersionKind(schema.GroupVersionKind{Group: shelf.Group, Version: "v1", Kind: "Pipe"})
	pipe.SetNamespace(plumbing)
	pipe.SetName("drain")
	w.eventually("an object of the CRD", func() string { return problem(w.admin.Create(t.Context(), pipe)) })

	held, err := catalog.Open(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(shelf.Catalog(all...))}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	service := httptest.NewServer(http.Handler(serve.NewHandler(held, nil)))
	defer service.Close()
	if err := w.admin.Status().Patch(t.Context(), shelved, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"urls":{"base":"`+service.URL+`"},"lastUnpacked":"2026-03-01T12:00:00Z"}}`))); err != nil {
		t.Fatal(err)
	}
	w.editExtension(`{"spec":{"source":{"catalog":{"version":null}}}}`)
	w.extensionIs("pipes.v1.1.0", "Retrying", "material")

	w.editExtension(`{"metadata":{"annotations":{"` + extension.RollbackAnnotation + `":"1"}}}`)
	w.extensionIs("pipes.v1.0.0", "Succeeded", "")
	manager.Kill()
	manager = operator.Start(t, w.Cluster, flags...)
	w.editExtension(`{"metadata":{"annotations":{"` + extension.RollbackAnnotation + `":null}},"spec":{"source":{"catalog":{"version":"<2.0.0"}}}}`)
	w.extensionIs("pipes.v1.1.0", "Succeeded", "")

	w.still()
	before := time.Now()
	scale := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(2)}}}
	scale.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	scale.SetNamespace(plumbing)
	scale.SetName("pipes")
	if err := w.admin.Patch(t.Context(), scale, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`))); err != nil {
		t.Fatal(err)
	}
	w.eventually("the replicas are as in the bundle", func() string {
		if err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(scale), scale); err != nil {
			return err.Error()
		}
		n, _, _ := unstructured.NestedInt64(scale.Object, "spec", "replicas")
		return expect(fmt.Sprint(n), "1")
	})
	w.still()
	if n := len(w.requests(cluster.Filter{User: operator.User, Since: before, Resource: "deployments", Where: writes})); n != 1 {
		t.Errorf("a manually scaled deployment was written %d times, want once", n)
	}

	if err := w.admin.Delete(t.Context(), extensionObject("ClusterExtension", "pipes", nil)); err != nil {
		t.Fatal(err)
	}
	w.extensionIs("pipes.v1.1.0", "Blocked", "its CRDs have objects")
	w.told("ClusterExtension", extension.ReasonUsedCRD)
	if err := w.admin.Delete(t.Context(), pipe); err != nil {
		t.Fatal(err)
	}
	w.eventually("the extension is gone", func() string {
		u := extensionObject("ClusterExtension", "pipes", nil)
		return expect(fmt.Sprint(apierrors.IsNotFound(w.admin.Get(t.Context(), client.ObjectKeyFromObject(u), u))), "true")
	})
	if got := w.left(); got != nil {
		t.Errorf("it has left %q", got)
	}
	figures(t, "installed, killed in between", first)
	figures(t, "all", w.requests(cluster.Filter{User: operator.User}))
	t.Logf("memory of the manager: %+v", manager.Memory())
	w.rightsUsed([]string{"rbac-extensions.yaml"},
		"create /serviceaccounts", "create /services", "create apps/deployments", "create apiextensions.k8s.io/customresourcedefinitions",
		"create rbac.authorization.k8s.io/roles", "create rbac.authorization.k8s.io/rolebindings",
		"create rbac.authorization.k8s.io/clusterroles", "create rbac.authorization.k8s.io/clusterrolebindings",
		"escalate rbac.authorization.k8s.io/roles", "escalate rbac.authorization.k8s.io/clusterroles",
		"bind rbac.authorization.k8s.io/roles", "bind rbac.authorization.k8s.io/clusterroles",
		// It covers all CRDs in bundles.
		"list */*",
		// It names no service account.
		"impersonate /serviceaccounts",
		// The bundle watches all namespaces, and has neither configuration nor secrets.
		"get rbac.authorization.k8s.io/roles", "patch rbac.authorization.k8s.io/roles", "delete rbac.authorization.k8s.io/roles",
		"get rbac.authorization.k8s.io/rolebindings", "patch rbac.authorization.k8s.io/rolebindings", "delete rbac.authorization.k8s.io/rolebindings",
		"get /configmaps", "create /configmaps", "patch /configmaps", "delete /configmaps",
		"get /secrets", "create /secrets", "patch /secrets", "delete /secrets",
		// It has no webhooks.
		"get admissionregistration.k8s.io/validatingwebhookconfigurations", "create admissionregistration.k8s.io/validatingwebhookconfigurations",
		"patch admissionregistration.k8s.io/validatingwebhookconfigurations", "delete admissionregistration.k8s.io/validatingwebhookconfigurations",
		"get admissionregistration.k8s.io/mutatingwebhookconfigurations", "create admissionregistration.k8s.io/mutatingwebhookconfigurations",
		"patch admissionregistration.k8s.io/mutatingwebhookconfigurations", "delete admissionregistration.k8s.io/mutatingwebhookconfigurations",
		"get cert-manager.io/issuers", "list cert-manager.io/issuers", "create cert-manager.io/issuers", "patch cert-manager.io/issuers", "delete cert-manager.io/issuers",
		"get cert-manager.io/certificates", "list cert-manager.io/certificates", "create cert-manager.io/certificates", "patch cert-manager.io/certificates", "delete cert-manager.io/certificates",
	)
}
