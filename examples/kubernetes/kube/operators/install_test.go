package operators_test

import (
	"slices"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"github.com/fairlead/fairlead/solver/olm/install"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestInstallAndUpdate takes a subscription with manual approval to the newest
// of three versions.
func TestInstallAndUpdate(t *testing.T) {
	w := newWorld(t, nil)
	all := shelf.Plumbing()
	w.stock("Manual", slices.Concat(all[:1], all[3:])...)
	d, errs := w.run(40)
	if errs != nil || !slices.Contains(reasons(d.Blocked), install.ReasonApproval) {
		t.Fatalf("%v, %v", errs, d.Blocked)
	}
	w.wantPhases(map[string]string{})
	w.approve()
	if d, errs := w.run(60); errs != nil || len(d.Blocked) > 0 {
		t.Fatalf("%v, %v", errs, d.Blocked)
	}
	w.wantPhases(map[string]string{"pipes.v1.0.0": "Succeeded", "valves.v1.2.0": "Succeeded", "gauges.v0.9.0": "Succeeded"})

	m := w.get(kind("", "v1", "ConfigMap"), ns, "plumbing")
	w.must(unstructured.SetNestedField(m.Object, shelf.Catalog(all...), "data", "catalog.json"))
	w.must(w.client.Update(t.Context(), m))
	for _, hop := range []string{"pipes.v1.1.0", "pipes.v2.0.0"} {
		d, errs := w.run(60)
		if errs != nil || !slices.Contains(reasons(d.Blocked), install.ReasonApproval) {
			t.Fatalf("%s: %v, %v", hop, errs, d.Blocked)
		}
		w.approve()
		if _, errs := w.run(60); errs != nil {
			t.Fatal(errs)
		}
		w.wantPhases(map[string]string{hop: "Succeeded", "valves.v1.2.0": "Succeeded", "gauges.v0.9.0": "Succeeded"})
	}
	d, _ = w.run(20)
	if len(d.Blocked) > 0 {
		t.Errorf("at the end it still waits: %v", d.Blocked)
	}
	sub := w.get(subscriptionKind, ns, "pipes")
	if csv, _, _ := unstructured.NestedString(sub.Object, "status", "installedCSV"); csv != "pipes.v2.0.0" {
		t.Errorf("the subscription has installed %q", csv)
	}
	for write, want := range map[string]int{
		"create InstallPlan install-1": 1, "create InstallPlan install-2": 1, "create InstallPlan install-3": 1, "create InstallPlan install-4": 0,
		"apply ClusterServiceVersion pipes.v1.0.0": 1, "apply ClusterServiceVersion pipes.v2.0.0": 1, "apply ClusterServiceVersion valves.v1.2.0": 1,
		"apply CustomResourceDefinition pipes." + shelf.Group: 3, "apply CustomResourceDefinition gauges." + shelf.Group: 1,
		"apply Deployment pipes": 3, "apply Deployment valves": 1, "apply ServiceAccount pipes": 3,
		"delete ClusterServiceVersion pipes.v1.0.0": 1, "delete ClusterServiceVersion pipes.v1.1.0": 1, "delete ClusterServiceVersion valves.v1.2.0": 0,
		"create OperatorCondition pipes.v1.1.0": 1, "delete Deployment pipes": 0,
	} {
		if got := w.count(write); got != want {
			t.Errorf("%s: %d times, want %d", write, got, want)
		}
	}
	w.wantMade(map[schema.GroupVersionKind][]string{
		kind("", "v1", "ServiceAccount"): {"gauges", "pipes", "valves"},
		kind("", "v1", "Service"):        {"gauges-metrics", "pipes-metrics", "valves-metrics"},
		kind("apps", "v1", "Deployment"): {"gauges", "pipes", "valves"},
		conditionKind:                    {"gauges.v0.9.0", "pipes.v2.0.0", "valves.v1.2.0"},
	})
	if roles := len(w.all(kind("rbac.authorization.k8s.io", "v1", "Role"))); roles != 3 {
		t.Errorf("%d roles, want one for each operator", roles)
	}
}

// wantMade compares the names of the objects of some kinds.
func (w *world) wantMade(want map[schema.GroupVersionKind][]string) {
	w.t.Helper()
	for k, names := range want {
		var got []string
		for _, o := range w.all(k) {
			got = append(got, o.GetName())
		}
		slices.Sort(got)
		if !slices.Equal(got, names) {
			w.t.Errorf("%s: %q, want %q", k.Kind, got, names)
		}
	}
}
