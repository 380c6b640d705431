package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tenantCSVs are the specs of CSVs that ask for more than their tenant may have: members
// beside an install strategy, or members of the strategy.
func tenantCSVs() map[string]map[string]any {
	everything := []any{map[string]any{"apiGroups": []any{"*"}, "resources": []any{"*"}, "verbs": []any{"*"}}}
	hook := func(kind string, crds ...any) map[string]any {
		return map[string]any{"webhookdefinitions": []any{map[string]any{
			"type": kind, "generateName": "w.tenant.example", "deploymentName": "t-op", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "webhookPath": "/", "conversionCRDs": crds,
			"rules": []any{map[string]any{"operations": []any{"*"}, "apiGroups": []any{"rbac.authorization.k8s.io"}, "apiVersions": []any{"v1"}, "resources": []any{"clusterrolebindings"}}},
		}}}
	}
	api := func(group, version string) map[string]any {
		return map[string]any{"apiservicedefinitions": map[string]any{"owned": []any{map[string]any{"name": "xs", "kind": "X", "group": group, "version": version, "deploymentName": "t-op"}}}}
	}
	crd := func(name, kind string) map[string]any {
		return map[string]any{"customresourcedefinitions": map[string]any{"owned": []any{map[string]any{"name": name, "kind": kind, "version": "v1"}}}}
	}
	account := func(key string) map[string]any {
		return map[string]any{key: []any{map[string]any{"serviceAccountName": "default", "rules": everything}}}
	}
	return map[string]map[string]any{
		"mutate": hook("MutatingAdmissionWebhook"), "validate": hook("ValidatingAdmissionWebhook"), "convert": hook("ConversionWebhook", "pipes."+shelf.Group),
		"metrics": api("metrics.k8s.io", "v1beta1"), "hostapi": api("api.pipes."+shelf.Group, "v1"),
		"hostcrd": crd("pipes."+shelf.Group, "Pipe"), "rbac": crd("rolebindings.rbac.authorization.k8s.io", "RoleBinding"),
		"permissions": account("permissions"), "cluster": account("clusterPermissions"), "plain": {},
	}
}

// tenantGroups are the specs of operator groups.
func tenantGroups(namespace string) map[string]map[string]any {
	return map[string]map[string]any{
		"own":    {"serviceAccountName": "small", "targetNamespaces": []any{namespace}},
		"system": {"serviceAccountName": "small", "targetNamespaces": []any{namespace, "kube-system"}},
		"all":    {"serviceAccountName": "small"},
		"none":   {"targetNamespaces": []any{namespace}},
	}
}

// Forty tenants, who may write everything of OLM in their namespaces, and whose accounts may
// write little, each try another way to have more written for them, or to stop others; two more
// bring a catalog of their own, and a plan that they wrote themselves. None succeeds, the audit
// log has the tenant's account on every write made for it, and an operator elsewhere is updated
// meanwhile, in about the time that its installation took before.
func TestTenant(t *testing.T) {
	w := newWorld(t, nil)
	all := shelf.Plumbing()
	w.installOperators("Manual", slices.Concat(all[:1], all[3:])...)
	manager := operator.Start(t, w.Cluster, "-controllers=operators", "-leader-elect=false", "-operators-require-accounts", "-operators-unlimited="+plumbing)
	manager.Ready()
	others := []string{"valves.v1.2.0", "gauges.v0.9.0"}
	usual := w.takes("pipes.v1.0.0", others...)
	var tenants []string
	for name, csv := range tenantCSVs() {
		for how := range tenantGroups("") {
			tenants = append(tenants, w.tenant(name+"-"+how, csv, how))
		}
	}
	tenants = append(tenants, w.tenantCatalog(), w.tenantPlan())
	w.stock(all...)
	took := w.takes("pipes.v1.1.0", others...)
	t.Logf("the host: installed in %v, updated beside %d tenants in %v", usual, len(tenants), took)
	if took > 2*usual+30*time.Second {
		t.Errorf("tenants hold up the host: %v instead of %v", took, usual)
	}
	w.within(3*time.Minute, "the plain operators within their accounts", func() string {
		_, phase := w.tenantCSV("plain-own")
		return expect(phase, "Succeeded")
	})
	w.still()
	w.outside(tenants)
	w.audited(tenants)
	w.installed(append(others, "pipes.v1.1.0")...)
}

// takes approves a CSV of the host, and returns how long it then takes to be installed.
func (w *world) takes(csv string, others ...string) time.Duration {
	w.Helper()
	w.approve(csv)
	began := time.Now()
	w.installed(append(others, csv)...)
	return time.Since(began).Round(time.Second)
}

// audited checks who wrote what: for a tenant, its account, in its namespace; with the operator's
// own rights only objects of OLM, the roles that follow from groups, and the host's.
func (w *world) audited(tenants []string) {
	w.Helper()
	accounts := 0
	for _, r := range w.requests(cluster.Filter{User: operator.User, Where: writes}) {
		if r.As != "" {
			accounts++
		}
		mine := slices.Contains(tenants, r.Namespace)
		hosts := strings.Contains(strings.Replace(r.URI, "api.pipes", "", 1), "pipes") || strings.Contains(r.URI, "valves") || strings.Contains(r.URI, "gauges")
		switch own := r.Group == "operators.coreos.com" || r.Resource == "events"; {
		case r.Code >= 300:
		case r.As != "" && (!mine || r.As != "system:serviceaccount:"+r.Namespace+":small"):
			w.Errorf("%s wrote %s of namespace %q", r.As, r.URI, r.Namespace)
		case r.As != "" && r.Group == rbacv1.GroupName:
			w.Errorf("rights were written for a tenant: %s %s", r.Verb, r.URI)
		case r.As == "" && r.Namespace == "" && !strings.HasPrefix(r.Name, "olm.og.") && !hosts:
			w.Errorf("written for the cluster with the operator's rights: %s %s", r.Verb, r.URI)
		case r.As == "" && mine && !own && r.Verb != "delete":
			w.Errorf("written for a tenant with the operator's rights: %s %s", r.Verb, r.URI)
		}
	}
	if accounts == 0 {
		w.Error("nothing was written in the name of an account")
	}
}

// tenantCatalog makes a tenant with a catalog of its own, whose operator has webhooks, an API
// service and a CRD, and subscribes to it.
func (w *world) tenantCatalog() string {
	w.Helper()
	name := w.account("catalog")
	siege := shelf.Version{Package: "siege", Number: "1.0.0", Kind: "Siege", Served: []string{"v1"}, Calls: []string{"mutating", "validating", "api"}}
	w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "siege"}, Data: map[string]string{"catalog.json": shelf.Catalog(siege)}})
	w.createIn(name,
		olmObject("v1", "OperatorGroup", "own", tenantGroups(name)["own"]),
		olmObject("v1alpha1", "CatalogSource", "siege", map[string]any{"sourceType": "configmap", "configMap": "siege"}),
		olmObject("v1alpha1", "Subscription", "siege", map[string]any{"name": "siege", "channel": "stable", "source": "siege", "sourceNamespace": name, "installPlanApproval": "Automatic"}))
	return name
}

// tenantPlan makes a tenant who writes an install plan, approved, that would make its account
// the administrator of the cluster.
func (w *world) tenantPlan() string {
	w.Helper()
	name := w.account("plan")
	binding := `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"plan","labels":{"` + operators.NamespaceLabel + `":"plan"}},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"ServiceAccount","namespace":"plan","name":"small"}]}`
	plan := olmObject("v1alpha1", "InstallPlan", "install-own", map[string]any{"approval": "Automatic", "approved": true, "clusterServiceVersionNames": []any{"t.v1"}})
	w.createIn(name, olmObject("v1", "OperatorGroup", "own", tenantGroups(name)["own"]), plan)
	plan.Object["status"] = map[string]any{"phase": "Installing", "catalogSources": []any{}, "plan": []any{map[string]any{"resolving": "t.v1", "status": "Unknown", "resource": map[string]any{
		"group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRoleBinding", "name": "plan", "manifest": binding, "sourceName": "siege", "sourceNamespace": name,
	}}}}
	if err := w.admin.Status().Update(w.Context(), plan); err != nil {
		w.Fatal(err)
	}
	return name
}

// createIn creates objects in a namespace.
func (w *world) createIn(namespace string, objects ...*unstructured.Unstructured) {
	w.Helper()
	for _, o := range objects {
		o.SetNamespace(namespace)
		w.create(o)
	}
}

// account makes a namespace with a small account, and returns its name.
func (w *world) account(name string) string {
	w.Helper()
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	meta := metav1.ObjectMeta{Namespace: name, Name: "small"}
	w.create(&corev1.ServiceAccount{ObjectMeta: meta})
	w.create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"clusterserviceversions", "subscriptions"}, Verbs: []string{"create", "get", "update", "patch"}},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"create", "get", "update", "patch"}},
		{Resources: []string{"serviceaccounts", "services", "secrets"}, APIGroups: []string{""}, Verbs: []string{"create", "get", "update", "patch"}},
	}})
	w.create(&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "small"}, Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: name, Name: "small"}}})
	return name
}

// tenant makes a namespace with a small account, a group, a CSV and a catalog that hangs.
func (w *world) tenant(name string, csv map[string]any, how string) string {
	w.Helper()
	w.account(name)
	install := map[string]any{"deployments": []any{map[string]any{"name": "t-op", "spec": map[string]any{
		"replicas": int64(1), "selector": map[string]any{"matchLabels": map[string]any{"app": "t"}},
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "t"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "op", "image": "registry.example/op:v1"}}}},
	}}}}
	spec := map[string]any{"version": "1.0.0", "install": map[string]any{"strategy": "deployment", "spec": install}}
	var modes []any
	for _, mode := range []string{"OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"} {
		modes = append(modes, map[string]any{"type": mode, "supported": true})
	}
	spec["installModes"] = modes
	for key, value := range csv {
		if strings.HasSuffix(strings.ToLower(key), "permissions") {
			install[key] = value
		} else {
			spec[key] = value
		}
	}
	w.createIn(name,
		olmObject("v1", "OperatorGroup", "own", tenantGroups(name)[how]),
		olmObject("v1alpha1", "CatalogSource", "slow", map[string]any{"sourceType": "grpc", "address": "nothing." + name + ".svc:50051"}),
		olmObject("v1alpha1", "ClusterServiceVersion", "t.v1", spec))
	return name
}

// tenantCSV returns the CSV of a tenant, and its phase.
func (w *world) tenantCSV(namespace string) (o *unstructured.Unstructured, phase string) {
	o = olmObject("v1alpha1", "ClusterServiceVersion", "t.v1", nil)
	o.SetNamespace(namespace)
	if err := w.admin.Get(w.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		return o, err.Error()
	}
	phase, _, _ = unstructured.NestedString(o.Object, "status", "phase")
	return o, phase
}

// outside checks that nothing was written for tenants but in their namespaces, and the
// roles of their groups, which grant nothing.
func (w *world) outside(tenants []string) {
	w.Helper()
	rbac := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	hooks := schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}
	for _, kind := range []schema.GroupVersionKind{
		rbac.WithKind("ClusterRole"), rbac.WithKind("ClusterRoleBinding"), rbac.WithKind("Role"), rbac.WithKind("RoleBinding"),
		hooks.WithKind("MutatingWebhookConfiguration"), hooks.WithKind("ValidatingWebhookConfiguration"),
		{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "ClusterServiceVersion"},
	} {
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := w.admin.List(w.Context(), &list); err != nil {
			w.Fatal(err)
		}
		for _, o := range list.Items {
			owner := o.GetLabels()[operators.NamespaceLabel]
			if slices.Contains(tenants, owner) && o.GetNamespace() != owner && !strings.HasPrefix(o.GetName(), "olm.og.") {
				w.Errorf("%s %s/%s was written for tenant %s", kind.Kind, o.GetNamespace(), o.GetName(), owner)
			}
		}
	}
	for _, tenant := range tenants {
		// What a CSV says of permissions is not granted, and asked for by nothing but a plan; to own
		// a CRD of others, for namespaces that they do not watch, writes nothing (as in OLM).
		harmless := slices.Contains([]string{"plain-own", "permissions-own", "cluster-own", "hostcrd-own"}, tenant)
		if _, phase := w.tenantCSV(tenant); phase == "Succeeded" && !harmless {
			w.Error(fmt.Sprintf("tenant %s has what it wants", tenant))
		}
	}
}
