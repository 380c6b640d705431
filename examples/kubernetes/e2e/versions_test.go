package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestVersions runs an earlier version of the operator and this one side by side, and lets them take
// over from each other in the middle of drains. Up: this one continues what the other began. Down: the
// earlier one leaves alone what this one began, since it cannot read its state, and says so; this one
// continues later. No pod is evicted twice, and only one acts.
func TestVersions(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "crd/drainrequests.yaml", "rbac-drain.yaml")
	w.namespace("shop")
	if err := w.kubelets.AddNode(t.Context(), "n1", nil); err != nil {
		t.Fatal(err)
	}
	w.deployment("web", 2)
	flags := []string{"-controllers=drain", "-lease-duration=20s", "-renew-deadline=16s", "-retry-period=1s", "-drain-max-backoff=5s"}
	old := operator.StartEarlier(t, w.Cluster, flags...)
	old.Ready()
	next := 0
	// part begins a drain that a budget stops when one of two pods is left, and returns what lets it end.
	part := func(what string) (let func()) {
		t.Helper()
		next++
		name, one := fmt.Sprint("r", next), intstr.FromInt32(1)
		w.eventually(what+": two pods", func() string { return w.podsReady("web", "n1", 2) })
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		}}
		w.create(budget)
		w.create(drainRequest(name, "n1", map[string]any{"why": what}))
		w.eventually(what+": one pod of two leaves", func() string { return expect(fmt.Sprint(len(w.evictions())), fmt.Sprint(2*next-1)) })
		return func() {
			t.Helper()
			if err := w.admin.Delete(t.Context(), budget); err != nil {
				t.Fatal(err)
			}
			w.eventually(what+": the node is drained", func() string { return expect(w.drainStatus(name), "Drained") })
			w.editRequest(name, `{"spec":{"cancelled":true}}`)
			w.eventually(what+": the request is over", func() string { return expect(w.drainStatus(name), "Over Cancelled") })
			w.eventually(what+": the node is in service again", func() string { return expect(w.cordoned("n1"), "false") })
		}
	}
	let := part("begun by the earlier version")
	this := operator.Start(t, w.Cluster, flags...)
	this.Ready()
	acts := func(p *operator.Process) bool {
		return p.Metric(`fairlead_passes_total{engine="drain",result="ok"}`) > 0
	}
	if acts(this) {
		t.Error("this version acts beside the earlier one, which leads")
	}
	if err := old.Stop(); err != nil {
		t.Errorf("stopping the earlier version: %v", err)
	}
	let()
	let = part("begun by this version")
	old = operator.StartEarlier(t, w.Cluster, flags...)
	old.Ready()
	this.Kill() // the lease ends by itself
	w.eventually("the earlier version says that the state is that of a newer one", func() string { return w.event("Node", "n1", "PassFailed", "run the newer release again") })
	if n := len(w.evictions()); n != 3 || w.cordoned("n1") != "true" {
		t.Errorf("%d evictions, and the node is cordoned: %s; the earlier version was to leave it alone", n, w.cordoned("n1"))
	}
	this = operator.Start(t, w.Cluster, flags...)
	this.Ready()
	if err := old.Stop(); err != nil {
		t.Errorf("stopping the earlier version: %v", err)
	}
	let()
	if all := w.evictions(); len(all) != 4 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 4 {
		t.Errorf("evicted: %q, want four pods, once each", all)
	}
	refused := w.requests(cluster.Filter{User: operator.User, Resource: "nodes", Where: func(r *cluster.Request) bool { return r.Code == 409 }})
	if len(refused) > 0 {
		t.Errorf("%d writes of the node were refused: two acted", len(refused))
	}
}
