package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	engine "github.com/fairlead/fairlead/lifecycle/drain"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func drainRequest(name, node string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"nodeName": node, "requester": "e2e"}}}
	for key, value := range spec {
		u.Object["spec"].(map[string]any)[key] = value
	}
	u.SetGroupVersionKind(drain.Kind)
	u.SetName(name)
	return u
}

// editRequest merges something into a request.
func (w *world) editRequest(name, patch string) {
	w.Helper()
	w.eventually("request "+name+" is edited", func() string {
		return problem(w.admin.Patch(w.Context(), drainRequest(name, "", nil), client.RawPatch("application/merge-patch+json", []byte(patch))))
	})
}

// drainStatus returns "phase reason" of a request.
func (w *world) drainStatus(name string) string {
	u := drainRequest(name, "", nil)
	if err := w.admin.Get(w.Context(), client.ObjectKey{Name: name}, u); err != nil {
		return err.Error()
	}
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	reason, _, _ := unstructured.NestedString(u.Object, "status", "reason")
	return strings.TrimSpace(phase + " " + reason)
}

// cordoned returns whether a node is cordoned.
func (w *world) cordoned(name string) string {
	var n corev1.Node
	if err := w.admin.Get(w.Context(), client.ObjectKey{Name: name}, &n); err != nil {
		return err.Error()
	}
	return fmt.Sprint(n.Spec.Unschedulable)
}

// evictions returns the names of the pods that the operator has evicted,
// sorted.
func (w *world) evictions() []string {
	w.Helper()
	var names []string
	for _, r := range w.requests(cluster.Filter{User: operator.User, Resource: "pods/eviction"}) {
		if r.Code == 201 {
			names = append(names, r.Name)
		}
		if r.PreconditionUID() == "" {
			w.Errorf("eviction of %s without a UID", r.Name)
		}
	}
	slices.Sort(names)
	return names
}

// A node without a machine is drained for a request, one pod after the other as
// the budget allows it. The request is paused in the middle and resumed, the API
// server is down for a while, the operator is killed; a second request keeps the
// node, and its end, while no operator runs, returns the node to service.
func TestDrain(t *testing.T) {
	w := newWorld(t, &cluster.KubeletOptions{Starting: 2 * time.Second})
	operator.Install(t, w.Cluster, "crd/drainrequests.yaml", "rbac-drain.yaml")
	w.namespace("shop")
	if err := w.kubelets.AddNode(t.Context(), "n1", nil); err != nil {
		t.Fatal(err)
	}
	w.deployment("web", 4)
	agent := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent"}}
	agent.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}
	agent.Spec.Template.Labels = agent.Spec.Selector.MatchLabels
	agent.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "none"}}
	w.create(agent)
	three := intstr.FromInt32(3)
	w.create(&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &three, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	})
	w.eventually("four pods on n1", func() string { return w.podsReady("web", "n1", 4) })
	if err := w.kubelets.AddNode(t.Context(), "n2", nil); err != nil {
		t.Fatal(err)
	}
	flags := []string{"-controllers=drain", "-leader-elect=false", "-drain-max-backoff=5s"}
	manager := operator.Start(t, w.Cluster, flags...)
	manager.Ready()

	w.create(drainRequest("kernel", "n1", map[string]any{"why": "a new kernel"}))
	w.eventually("the first pod leaves", func() string { return expect(fmt.Sprint(len(w.evictions()) > 0), "true") })
	w.editRequest("kernel", `{"spec":{"paused":true}}`)
	w.eventually("the request reports it", func() string { return expect(w.drainStatus("kernel"), "Paused") })
	before := len(w.evictions())
	w.outage(5 * time.Second)
	time.Sleep(6 * time.Second)
	if now := len(w.evictions()); now != before || before > 3 {
		t.Errorf("%d evictions when it was paused, %d later", before, now)
	}
	if got := w.cordoned("n1"); got != "true" {
		t.Errorf("the node is cordoned while the request is paused: %s", got)
	}
	w.editRequest("kernel", `{"spec":{"paused":false}}`)
	w.eventually("it continues", func() string { return expect(fmt.Sprint(len(w.evictions()) > before), "true") })
	manager.Kill()
	manager = operator.Start(t, w.Cluster, flags...)
	w.eventually("the node is drained", func() string { return expect(w.drainStatus("kernel"), "Drained") })
	w.eventually("the pods run elsewhere", func() string { return w.podsReady("web", "n2", 4) })
	if got := w.podsReady("agent", "n1", 1); got != "" {
		t.Errorf("the pod of the DaemonSet on n1: %s", got)
	}
	if all := w.evictions(); len(all) != 4 || len(slices.Compact(all)) != 4 {
		t.Errorf("evicted: %q, want four pods, once each", all)
	}

	w.create(drainRequest("disk", "n1", map[string]any{"why": "a new disk"}))
	w.eventually("the second request is served, too", func() string { return expect(w.drainStatus("disk"), "Drained") })
	w.editRequest("kernel", `{"spec":{"cancelled":true}}`)
	w.eventually("the first is over", func() string { return expect(w.drainStatus("kernel"), "Over Cancelled") })
	time.Sleep(2 * time.Second)
	if got := w.cordoned("n1"); got != "true" {
		t.Errorf("cordoned while the second request lasts: %s", got)
	}
	manager.Kill()
	for _, name := range []string{"disk", "kernel"} {
		if err := w.admin.Delete(t.Context(), drainRequest(name, "", nil)); err != nil {
			t.Fatal(err)
		}
	}
	manager = operator.Start(t, w.Cluster, flags...)
	w.eventually("the node is returned to service", func() string { return expect(w.cordoned("n1"), "false") })

	// A cordon set by others stays, although it was ours a moment ago.
	cordon := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"unschedulable":true}}`))
	if err := w.admin.Patch(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, cordon); err != nil {
		t.Fatal(err)
	}
	w.create(drainRequest("again", "n1", nil))
	w.eventually("it is drained at once", func() string { return expect(w.drainStatus("again"), "Drained") })
	if err := w.admin.Delete(t.Context(), drainRequest("again", "", nil)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if got := w.cordoned("n1"); got != "true" {
		t.Errorf("the cordon of another user: %s", got)
	}
	asked := w.requests(cluster.Filter{User: operator.User, Resource: "nodes", Verb: "patch"})
	if len(asked) != 2 {
		t.Errorf("the node was written %d times, want twice: %s", len(asked), summary(asked))
	}
	t.Logf("requests of the operator: %s", summary(w.requests(cluster.Filter{User: operator.User})))
	if err := manager.Stop(); err != nil {
		t.Error(err)
	}
	w.rightsUsed([]string{"rbac-drain.yaml"}, "delete /pods", "get apps/daemonsets")
}

// The server refuses a request that makes no sense.
func TestDrainRequestRefused(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "crd/drainrequests.yaml")
	for name, spec := range map[string]map[string]any{
		"no requester": {"requester": ""}, "no node": {"nodeName": ""}, "a purpose of its own": {"purpose": "Fun"}, "no time": {"until": "tomorrow"},
	} {
		if err := w.admin.Create(t.Context(), drainRequest("r", "n1", spec)); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	w.create(drainRequest("r", "n1", nil))
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"nodeName":"n2"}}`))
	if err := w.admin.Patch(t.Context(), drainRequest("r", "", nil), patch); err == nil || !strings.Contains(err.Error(), "another request for another node") {
		t.Errorf("another node: %v", err)
	}
}

// A node falls silent. Its pod is evicted but stays, until a user confirms that
// the node is not running: then Kubernetes' own controller removes it, and the
// StatefulSet creates another one. When the node reports again, the taint is
// removed.
func TestOutOfService(t *testing.T) {
	c := cluster.ForTest(t, &cluster.Options{Controllers: []string{
		"serviceaccount-controller", "statefulset-controller", "garbage-collector-controller", "pod-garbage-collector-controller",
	}})
	w := newWorldOn(t, c, nil)
	operator.Install(t, w.Cluster, "crd/drainrequests.yaml", "rbac-drain.yaml")
	w.namespace("shop")
	if err := w.kubelets.AddNode(t.Context(), "n1", nil); err != nil {
		t.Fatal(err)
	}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
	set.Spec.Template.Labels = set.Spec.Selector.MatchLabels
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "none"}}
	w.create(set)
	w.eventually("the pod on n1", func() string { return w.podsReady("db", "n1", 1) })
	if err := w.kubelets.AddNode(t.Context(), "n2", nil); err != nil {
		t.Fatal(err)
	}
	report := func(status corev1.ConditionStatus) {
		if err := w.kubelets.Report(t.Context(), "n1", status); err != nil {
			t.Fatal(err)
		}
	}
	report(corev1.ConditionUnknown)
	manager := operator.Start(t, w.Cluster, "-controllers=drain", "-leader-elect=false")
	manager.Ready()
	w.create(drainRequest("dead", "n1", nil))
	w.eventually("the request reports what is wrong", func() string {
		if got := w.drainStatus("dead"); !strings.HasPrefix(got, "Draining ") {
			return fmt.Sprintf("%q", got)
		}
		return ""
	})
	t.Log(w.drainStatus("dead"))
	tainted := func() string {
		var n corev1.Node
		if err := w.admin.Get(t.Context(), client.ObjectKey{Name: "n1"}, &n); err != nil {
			return err.Error()
		}
		return fmt.Sprint(slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == engine.OutOfServiceTaint }))
	}
	time.Sleep(5 * time.Second)
	if got := tainted(); got != "false" {
		t.Errorf("tainted without evidence: %s", got)
	}
	if got := w.podsReady("db", "n2", 0); got != "" {
		t.Errorf("another pod of the StatefulSet runs while the first may: %s", got)
	}
	w.editRequest("dead", `{"spec":{"fenced":true}}`)
	w.eventually("the node is tainted", func() string { return expect(tainted(), "true") })
	w.eventually("the pod runs elsewhere", func() string { return w.podsReady("db", "n2", 1) })
	w.eventually("the node is empty", func() string { return expect(w.drainStatus("dead"), "Drained") })
	report(corev1.ConditionTrue)
	w.editRequest("dead", `{"spec":{"fenced":false}}`)
	w.eventually("the taint is taken back", func() string { return expect(tainted(), "false") })
	if err := w.admin.Delete(t.Context(), drainRequest("dead", "", nil)); err != nil {
		t.Fatal(err)
	}
	w.eventually("the node is returned to service", func() string { return expect(w.cordoned("n1"), "false") })
	for _, r := range w.requests(cluster.Filter{User: operator.User, Verb: "delete", Resource: "pods"}) {
		t.Errorf("pod %s was deleted by the operator", r.Name)
	}
}

// The node of a machine registers again, under another UID, while it is drained,
// with pods: it is drained again, and the Node object is removed with the
// machine.
func TestMachineNodeAgain(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "crd/machine.yaml", "rbac-machines.yaml")
	w.namespace("shop")
	w.namespace("fleet")
	cloud := newInstances(t)
	w.machine(cloud, "m1", "n1", map[string]any{"preTerminate": []any{map[string]any{"name": "Hold", "owner": "e2e"}}})
	provider := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"providerID":"i-m1"}}`))
	n1 := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	if err := w.admin.Patch(t.Context(), n1, provider); err != nil {
		t.Fatal(err)
	}
	w.deployment("web", 2)
	w.eventually("two pods on n1", func() string { return w.podsReady("web", "n1", 2) })
	if err := w.kubelets.AddNode(t.Context(), "n2", nil); err != nil {
		t.Fatal(err)
	}
	manager := operator.Start(t, w.Cluster, "-controllers=machines", "-machines-cloud="+cloud.path, "-leader-elect=false")
	manager.Ready()
	w.deleteMachine("m1")
	w.eventually("the node is drained", func() string { return expect(w.machineCondition("m1", "Drained"), "True") })

	if err := w.admin.Delete(t.Context(), n1); err != nil {
		t.Fatal(err)
	}
	if err := w.kubelets.AddNode(t.Context(), "n1", nil); err != nil {
		t.Fatal(err)
	}
	n1 = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	if err := w.admin.Patch(t.Context(), n1, provider); err != nil {
		t.Fatal(err)
	}
	w.pod("shop", "late", "n1", nil)
	w.eventually("the late pod is evicted", func() string {
		return expect(fmt.Sprint(slices.Contains(w.evictions(), "late")), "true")
	})
	w.eventually("the node is cordoned again", func() string { return expect(w.cordoned("n1"), "true") })
	if d := cloud.deleted(); len(d) > 0 {
		t.Errorf("%q deleted before", d)
	}
	w.releaseHooks("m1", "preTerminate")
	w.eventually("the machine is gone", func() string {
		_, err := w.getMachine(t.Context(), "m1")
		return expect(fmt.Sprint(client.IgnoreNotFound(err) == nil && err != nil), "true")
	})
	w.eventually("its node, too", func() string {
		err := w.admin.Get(t.Context(), client.ObjectKey{Name: "n1"}, n1)
		return expect(fmt.Sprint(client.IgnoreNotFound(err) == nil && err != nil), "true")
	})
}
