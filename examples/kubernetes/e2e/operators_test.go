package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const plumbing = "plumbing"

func olmObject(version, kind, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: "operators.coreos.com", Version: version, Kind: kind})
	o.SetNamespace(plumbing)
	o.SetName(name)
	return o
}

// installOperators installs the controller's manifests, and creates a
// namespace for operators with a group, a catalog and a subscription to
// pipes.
func (w *world) installOperators(approval string, versions ...shelf.Version) {
	w.Helper()
	w.installKinds()
	w.create(olmObject("v1alpha1", "CatalogSource", plumbing, map[string]any{"sourceType": "configmap", "configMap": plumbing}))
	w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: plumbing, Name: plumbing}, Data: map[string]string{"catalog.json": shelf.Catalog(versions...)}})
	w.create(olmObject("v1", "OperatorGroup", plumbing, map[string]any{"targetNamespaces": []any{plumbing}}))
	w.create(olmObject("v1alpha1", "Subscription", "pipes", map[string]any{
		"name": "pipes", "channel": "stable", "source": plumbing, "sourceNamespace": plumbing, "installPlanApproval": approval,
	}))
}

// installKinds installs the controller's manifests, and creates the namespace.
func (w *world) installKinds() {
	w.Helper()
	operator.Install(w.T, w.Cluster,
		"crd/operators-subscriptions.yaml", "crd/operators-installplans.yaml", "crd/operators-clusterserviceversions.yaml",
		"crd/operators-operatorgroups.yaml", "crd/operators-operatorconditions.yaml", "crd/operators-catalogsources.yaml", "rbac-operators.yaml")
	w.namespace(plumbing)
	w.eventually("the kinds are served", func() string {
		var list unstructured.UnstructuredList
		for _, k := range [][2]string{{"v1alpha1", "Subscription"}, {"v1alpha1", "InstallPlan"}, {"v1alpha1", "ClusterServiceVersion"}, {"v1", "OperatorGroup"}, {"v2", "OperatorCondition"}, {"v1alpha1", "CatalogSource"}} {
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: "operators.coreos.com", Version: k[0], Kind: k[1] + "List"})
			if err := w.admin.List(w.Context(), &list); err != nil {
				return err.Error()
			}
		}
		return ""
	})
	if w.get("v1", "Node", "n1") == nil {
		if err := w.kubelets.AddNode(w.Context(), "n1", nil); err != nil {
			w.Fatal(err)
		}
	}
}

// csvPhases returns the phases of the CSVs of the namespace.
func (w *world) csvPhases() (map[string]string, error) {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "ClusterServiceVersionList"})
	err := w.admin.List(w.Context(), &list, client.InNamespace(plumbing))
	all := map[string]string{}
	for _, o := range list.Items {
		all[o.GetName()], _, _ = unstructured.NestedString(o.Object, "status", "phase")
	}
	return all, err
}

// installed waits until exactly these CSVs exist and have succeeded.
func (w *world) installed(names ...string) {
	w.Helper()
	want := map[string]string{}
	for _, name := range names {
		want[name] = "Succeeded"
	}
	w.eventually("installed: "+strings.Join(names, ", "), func() string {
		got, err := w.csvPhases()
		if err != nil {
			return err.Error()
		}
		if !maps.Equal(got, want) {
			return fmt.Sprint(got)
		}
		return ""
	})
}

// approve waits for a plan that installs a CSV and needs approval, checks
// that nothing of it is done, and approves it.
func (w *world) approve(csv string) {
	w.Helper()
	var plan *unstructured.Unstructured
	w.eventually("a plan for "+csv, func() string {
		all := w.plans()
		for i := range all {
			brings, _, _ := unstructured.NestedStringSlice(all[i].Object, "spec", "clusterServiceVersionNames")
			phase, _, _ := unstructured.NestedString(all[i].Object, "status", "phase")
			if slices.Contains(brings, csv) && phase == "RequiresApproval" {
				plan = &all[i]
				return ""
			}
		}
		return fmt.Sprintf("none of %d", len(all))
	})
	time.Sleep(2 * time.Second)
	if got, err := w.csvPhases(); err != nil || got[csv] != "" {
		w.Errorf("before its plan was approved %s is %q, %v", csv, got[csv], err)
	}
	w.eventually("the plan is approved", func() string {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"approved":true}}`))
		return problem(w.admin.Patch(w.Context(), plan, patch))
	})
}

// An operator is installed with its dependencies and updated over two hops, each
// of which is approved manually; the second hop has a new version of a CRD with
// objects. Meanwhile the API server is down for ten seconds, and the manager is
// killed.
func TestOperators(t *testing.T) {
	w := newWorld(t, nil)
	all := shelf.Plumbing()
	w.installOperators("Manual", slices.Concat(all[:1], all[3:])...)
	flags := []string{"-controllers=operators", "-leader-elect=false"}
	manager := operator.Start(t, w.Cluster, flags...)
	manager.Ready()

	w.told("InstallPlan", "RequiresApproval") // before it is approved: a short wait is not reported
	w.approve("pipes.v1.0.0")
	w.outage(10 * time.Second)
	w.installed("pipes.v1.0.0", "valves.v1.2.0", "gauges.v0.9.0")
	w.still()
	first := w.requests(cluster.Filter{User: operator.User})
	pipe := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"length": "3 m"}}}
	pipe.SetGroupVersionKind(schema.GroupVersionKind{Group: shelf.Group, Version: "v1alpha1", Kind: "Pipe"})
	pipe.SetNamespace(plumbing)
	pipe.SetName("drain")
	w.create(pipe)

	w.stock(all...)
	w.approve("pipes.v1.1.0")
	w.eventually("the update is under way", func() string {
		got, err := w.csvPhases()
		if err == nil && got["pipes.v1.1.0"] == "" {
			return fmt.Sprint(got)
		}
		return problem(err)
	})
	manager.Kill()
	manager = operator.Start(t, w.Cluster, flags...)
	w.installed("pipes.v1.1.0", "valves.v1.2.0", "gauges.v0.9.0")
	w.approve("pipes.v2.0.0")
	w.installed("pipes.v2.0.0", "valves.v1.2.0", "gauges.v0.9.0")
	w.still()

	w.checkOperator("pipes", "pipes.v2.0.0")
	pipe.SetGroupVersionKind(schema.GroupVersionKind{Group: shelf.Group, Version: "v1", Kind: "Pipe"})
	w.eventually("the object of the CRD can be read in the new version", func() string {
		return problem(w.admin.Get(t.Context(), client.ObjectKeyFromObject(pipe), pipe))
	})
	w.writesOnce()
	if n := manager.Metric(`csv_count{namespace="plumbing"}`); n != 3 {
		t.Errorf("metric csv_count is %v, want 3", n)
	}
	figures(t, "first installation, three operators, an outage in between", first)
	figures(t, "all, with two updates and a restart", w.requests(cluster.Filter{User: operator.User}))
	t.Logf("memory of the manager: %+v", manager.Memory())
}

// With exactly the permissions in its manifest, an operator is installed, updated
// automatically, and removed with all its objects except its CRD.
func TestOperatorRights(t *testing.T) {
	w := newWorld(t, nil)
	all := shelf.Plumbing()
	w.installOperators("Manual", slices.Concat(all[:1], all[3:])...)
	manager := operator.Start(t, w.Cluster, "-controllers=operators", "-leader-elect=false")
	manager.Ready()
	w.eventually("a plan", func() string { return expect(fmt.Sprint(len(w.plans())), "1") })
	w.stock(slices.Concat(all[:2], all[3:])...)
	w.approve("pipes.v1.1.0") // the plan for 1.0.0 is replaced
	w.installed("pipes.v1.1.0", "valves.v1.2.0", "gauges.v0.9.0")
	w.eventually("the first plan is gone", func() string { return expect(fmt.Sprint(len(w.plans())), "1") })
	w.namespace("tenant")
	w.merge("v1", "OperatorGroup", plumbing, `{"spec":{"targetNamespaces":["plumbing","tenant"]}}`)
	w.merge("v1alpha1", "Subscription", "pipes", `{"spec":{"installPlanApproval":"Automatic"}}`)
	w.stock(all...)
	w.installed("pipes.v2.0.0", "valves.v1.2.0", "gauges.v0.9.0")
	w.eventually("the operators are copied to the tenant", func() string {
		return expect(w.copies("tenant"), "gauges.v0.9.0 Succeeded Copied, pipes.v2.0.0 Succeeded Copied, valves.v1.2.0 Succeeded Copied")
	})
	w.merge("v1alpha1", "Subscription", "pipes", `{"metadata":{"annotations":{"fairlead.io/removal":"uninstall"}}}`)
	w.installed("valves.v1.2.0", "gauges.v0.9.0")
	w.eventually("its copy is removed from the tenant", func() string {
		return expect(w.copies("tenant"), "gauges.v0.9.0 Succeeded Copied, valves.v1.2.0 Succeeded Copied")
	})
	w.still()
	w.eventually("the garbage collector has taken the deployment", func() string {
		err := w.admin.Get(t.Context(), client.ObjectKey{Namespace: plumbing, Name: "pipes"}, new(appsv1.Deployment))
		return expect(fmt.Sprint(apierrors.IsNotFound(err)), "true")
	})
	w.writesOnce()
	w.rightsUsed([]string{"rbac-operators.yaml"},
		// Permissions that applying an object needs besides patch, and that
		// show as such.
		"create /serviceaccounts", "create /services", "create apps/deployments", "create apiextensions.k8s.io/customresourcedefinitions",
		"create operators.coreos.com/clusterserviceversions", "create operators.coreos.com/subscriptions",
		"create rbac.authorization.k8s.io/roles", "create rbac.authorization.k8s.io/rolebindings",
		"create rbac.authorization.k8s.io/clusterroles", "create rbac.authorization.k8s.io/clusterrolebindings",
		"escalate rbac.authorization.k8s.io/roles", "escalate rbac.authorization.k8s.io/clusterroles",
		"bind rbac.authorization.k8s.io/roles", "bind rbac.authorization.k8s.io/clusterroles",
		// It covers all CRDs in bundles.
		"list */*",
		// The deployment is deleted with its CSV; only a version with fewer
		// deployments deletes one.
		"delete apps/deployments",
		// No bundle here has a ConfigMap or needs an aggregated API, no catalog is in
		// an image, no operator sets its condition, and no plan was interrupted.
		"patch /configmaps", "delete /configmaps", "get operators.coreos.com/catalogsources", "patch operators.coreos.com/catalogsources",
		"patch operators.coreos.com/operatorconditions/status", "update operators.coreos.com/installplans",
		// The API server calls no operator here: see TestServing.
		"get /secrets", "create /secrets", "patch /secrets", "delete /secrets",
		"get apiregistration.k8s.io/apiservices", "create apiregistration.k8s.io/apiservices", "patch apiregistration.k8s.io/apiservices", "delete apiregistration.k8s.io/apiservices",
		"get admissionregistration.k8s.io/validatingwebhookconfigurations", "create admissionregistration.k8s.io/validatingwebhookconfigurations",
		"patch admissionregistration.k8s.io/validatingwebhookconfigurations", "delete admissionregistration.k8s.io/validatingwebhookconfigurations",
		"get admissionregistration.k8s.io/mutatingwebhookconfigurations", "create admissionregistration.k8s.io/mutatingwebhookconfigurations",
		"patch admissionregistration.k8s.io/mutatingwebhookconfigurations", "delete admissionregistration.k8s.io/mutatingwebhookconfigurations",
		// Recurring events, and events on objects for which there are none
		// here.
		"get /namespaces", "get operators.coreos.com/operatorconditions",
		// No operator group here names a service account: see TestTenant.
		"impersonate /serviceaccounts",
	)
}

// plans returns the install plans of the namespace.
func (w *world) plans() []unstructured.Unstructured {
	w.Helper()
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "InstallPlanList"})
	if err := w.admin.List(w.Context(), &list, client.InNamespace(plumbing)); err != nil {
		w.Log(err)
	}
	return list.Items
}

// copies returns the CSVs of a namespace, with their phases and reasons.
func (w *world) copies(namespace string) string {
	w.Helper()
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "ClusterServiceVersionList"})
	if err := w.admin.List(w.Context(), &list, client.InNamespace(namespace)); err != nil {
		return err.Error()
	}
	var all []string
	for _, o := range list.Items {
		phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
		reason, _, _ := unstructured.NestedString(o.Object, "status", "reason")
		all = append(all, o.GetName()+" "+phase+" "+reason)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// merge merges something into an object of the namespace.
func (w *world) merge(version, kind, name, patch string) {
	w.Helper()
	o := olmObject(version, kind, name, nil)
	if err := w.admin.Patch(w.Context(), o, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		w.Fatal(err)
	}
}

// stock replaces the content of the catalog.
func (w *world) stock(versions ...shelf.Version) {
	w.Helper()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: plumbing, Name: plumbing}}
	w.eventually("the catalog has new content", func() string {
		if err := w.admin.Get(w.Context(), client.ObjectKeyFromObject(m), m); err != nil {
			return err.Error()
		}
		m.Data = map[string]string{"catalog.json": shelf.Catalog(versions...)}
		return problem(w.admin.Update(w.Context(), m))
	})
}

// still waits until the operator writes nothing for five seconds.
func (w *world) still() {
	w.Helper()
	w.eventually("the operator is still", func() string {
		recent := w.requests(cluster.Filter{User: operator.User, Since: time.Now().Add(-5 * time.Second), Where: writes})
		if len(recent) > 0 {
			return summary(recent)
		}
		return ""
	})
}

func writes(r *cluster.Request) bool {
	switch r.Verb {
	case "create", "update", "patch", "delete":
		return r.Resource != "leases" && r.Resource != "events" && r.Group != "authorization.k8s.io" && r.Resource != "selfsubjectaccessreviews"
	}
	return false
}

// checkOperator checks the objects of an installed operator.
func (w *world) checkOperator(name, csv string) {
	w.Helper()
	var d appsv1.Deployment
	if err := w.admin.Get(w.Context(), client.ObjectKey{Namespace: plumbing, Name: name}, &d); err != nil {
		w.Fatal(err)
	}
	if d.Labels["olm.owner"] != csv || len(d.OwnerReferences) != 1 || d.OwnerReferences[0].Name != csv || d.Status.AvailableReplicas != 1 {
		w.Errorf("deployment %s: labels %v, owners %v, %d available", name, d.Labels, d.OwnerReferences, d.Status.AvailableReplicas)
	}
	var account corev1.ServiceAccount
	if err := w.admin.Get(w.Context(), client.ObjectKey{Namespace: plumbing, Name: name}, &account); err != nil {
		w.Fatal(err)
	}
	if len(account.OwnerReferences) != 1 || account.OwnerReferences[0].Name != csv {
		w.Errorf("service account %s: owners %v", name, account.OwnerReferences)
	}
}

// writesOnce checks the writes of the operator: none was carried out twice, all
// deletions have preconditions, no fields of others were taken over by force.
func (w *world) writesOnce() {
	w.Helper()
	made := map[string]int{}
	for _, r := range w.requests(cluster.Filter{User: operator.User, Where: writes}) {
		object := fmt.Sprintf("%s/%s/%s", r.Resource, r.Namespace, r.Name)
		if _, force := r.FieldManager(); force {
			w.Errorf("%s was written by force", object)
		}
		switch {
		case r.Verb == "delete" && r.PreconditionUID() == "":
			w.Errorf("%s was deleted without a precondition", object)
		case r.Code == 201:
			made["create "+object]++
		case r.Verb == "delete" && r.Code == 200:
			made["delete "+object]++
		}
	}
	for _, what := range slices.Sorted(maps.Keys(made)) {
		if made[what] > 1 && !strings.Contains(what, "configmaps/fairlead/") {
			w.Errorf("%s: %d times", what, made[what])
		}
	}
}

// told waits for an event on an object of a kind with a reason.
func (w *world) told(kind, reason string) {
	w.Helper()
	w.eventually("an event "+reason, func() string {
		var all eventsv1.EventList
		if err := w.admin.List(w.Context(), &all); err != nil {
			return err.Error()
		}
		var got []string
		for _, e := range all.Items {
			if e.Regarding.Kind == kind && e.Reason == reason {
				return ""
			}
			got = append(got, e.Regarding.Kind+" "+e.Reason)
		}
		return fmt.Sprint(got)
	})
}

// hasEvent reports whether there is an event with a reason and a note.
func (w *world) hasEvent(reason, note string) bool {
	w.Helper()
	var all eventsv1.EventList
	if err := w.admin.List(w.Context(), &all, client.InNamespace(plumbing)); err != nil {
		w.Log(err)
	}
	return slices.ContainsFunc(all.Items, func(e eventsv1.Event) bool { return e.Reason == reason && strings.Contains(e.Note, note) })
}

// figures logs the requests of a scenario.
func figures(t *testing.T, what string, all []cluster.Request) {
	reads, written, conflicts, watches := 0, 0, 0, 0
	for i := range all {
		switch r := &all[i]; {
		case r.Verb == "watch":
			watches++
		case writes(r):
			written++
			if r.Code == 409 {
				conflicts++
			}
		case r.Verb == "get" || r.Verb == "list":
			reads++
		}
	}
	t.Logf("%s: %d writes (%d of them conflicts), %d reads, %d watches: %s", what, written, conflicts, reads, watches, summary(all))
}
