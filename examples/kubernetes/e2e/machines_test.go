package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/cluster"
	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// instances is a cloud in a directory: one file for each instance.
type instances struct {
	t         *testing.T
	dir, path string
}

func newInstances(t *testing.T) *instances {
	t.Helper()
	i := &instances{t: t, dir: t.TempDir()}
	i.path = filepath.Join(i.dir, "cloud.sh")
	script := `#!/bin/sh
cd ` + i.dir + `
case "$1" in
exists) if [ -e "instance-$2" ]; then echo yes; else echo no; fi ;;
delete) echo "$2" >>deleted; rm -f "instance-$2" ;;
esac
`
	if err := os.WriteFile(i.path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return i
}

func (i *instances) add(id string) {
	i.t.Helper()
	if err := os.WriteFile(filepath.Join(i.dir, "instance-"+id), nil, 0o644); err != nil {
		i.t.Fatal(err)
	}
}

// deleted returns the instances whose deletion was requested, once per request.
func (i *instances) deleted() []string {
	i.t.Helper()
	data, err := os.ReadFile(filepath.Join(i.dir, "deleted"))
	if err != nil && !os.IsNotExist(err) {
		i.t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// machine creates a machine whose instance runs a node.
func (w *world) machine(i *instances, name, node string, hooks map[string]any) {
	w.Helper()
	if err := w.kubelets.AddNode(w.Context(), node, nil); err != nil {
		w.Fatal(err)
	}
	on := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"providerID":"i-`+name+`"}}`)) // as reported by kubelets in a cloud
	if err := w.admin.Patch(w.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, on); err != nil {
		w.Fatal(err)
	}
	i.add("i-" + name)
	m := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"providerID": "i-" + name}}}
	m.SetGroupVersionKind(machines.Kind)
	m.SetNamespace("fleet")
	m.SetName(name)
	m.SetFinalizers([]string{lifecycle.Finalizer})
	if hooks != nil {
		m.Object["spec"].(map[string]any)["lifecycleHooks"] = hooks
	}
	w.create(m)
	m.Object["status"] = map[string]any{"phase": "Running", "nodeRef": map[string]any{"kind": "Node", "name": node}}
	if err := w.admin.Status().Update(w.Context(), m); err != nil {
		w.Fatal(err)
	}
}

func (w *world) getMachine(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	m := &unstructured.Unstructured{}
	m.SetGroupVersionKind(machines.Kind)
	return m, w.admin.Get(ctx, client.ObjectKey{Namespace: "fleet", Name: name}, m)
}

func (w *world) deleteMachine(name string) {
	w.Helper()
	m := &unstructured.Unstructured{}
	m.SetGroupVersionKind(machines.Kind)
	m.SetNamespace("fleet")
	m.SetName(name)
	if err := w.admin.Delete(w.Context(), m); err != nil {
		w.Fatal(err)
	}
}

// releaseHooks removes the hooks of a point, as their owner does.
func (w *world) releaseHooks(name, point string) {
	w.Helper()
	w.eventually("hooks "+point+" are removed", func() string {
		m, err := w.getMachine(w.Context(), name)
		if err != nil {
			return err.Error()
		}
		unstructured.RemoveNestedField(m.Object, "spec", "lifecycleHooks", point)
		return problem(w.admin.Update(w.Context(), m))
	})
}

// machineCondition returns "status reason" of a condition of a machine.
func (w *world) machineCondition(name, kind string) string {
	m, err := w.getMachine(w.Context(), name)
	if err != nil {
		return err.Error()
	}
	all, _, _ := unstructured.NestedSlice(m.Object, "status", "conditions")
	for _, c := range all {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			status, _ := c["status"].(string)
			reason, _ := c["reason"].(string)
			return strings.TrimSpace(status + " " + reason)
		}
	}
	return ""
}

// A machine with hooks at both points is deleted: nothing is evicted before the
// first is removed, evictions wait for a disruption budget, the instance stays
// until the second is removed, and the finalizer is removed last. Meanwhile the
// operator is killed, and the API server is down for ten seconds.
func TestMachine(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "crd/machine.yaml", "rbac-machines.yaml")
	w.namespace("shop")
	w.namespace("fleet")
	cloud := newInstances(t)
	w.machine(cloud, "m1", "n1", map[string]any{
		"preDrain":     []any{map[string]any{"name": "MigrateApp", "owner": "app-controller"}},
		"preTerminate": []any{map[string]any{"name": "CopyDisk", "owner": "storage-controller"}},
	})
	w.deployment("web", 3)
	w.eventually("three pods on n1", func() string { return w.podsReady("web", "n1", 3) })
	if err := w.kubelets.AddNode(t.Context(), "n2", nil); err != nil {
		t.Fatal(err)
	}
	all := intstr.FromInt32(3)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &all, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
	w.create(budget)
	flags := []string{"-controllers=machines", "-machines-cloud=" + cloud.path, "-leader-elect=false"}
	manager := operator.Start(t, w.Cluster, flags...)
	manager.Ready()
	told := w.departures("shop")

	w.deleteMachine("m1")
	w.eventually("the machine reports that it waits for the hook", func() string { return expect(w.machineCondition("m1", "Drainable"), "False HookPresent") })
	time.Sleep(2 * time.Second)
	if n := len(w.requests(cluster.Filter{User: operator.User, Resource: "pods/eviction"})); n > 0 {
		t.Errorf("%d evictions before the preDrain hook was removed", n)
	}
	w.releaseHooks("m1", "preDrain")
	w.eventually("the node is cordoned", func() string {
		var n corev1.Node
		if err := w.admin.Get(t.Context(), client.ObjectKey{Name: "n1"}, &n); err != nil || !n.Spec.Unschedulable {
			return fmt.Sprint(n.Spec, err)
		}
		return ""
	})
	time.Sleep(3 * time.Second)
	if n := told.count(); n > 0 {
		t.Errorf("%d pods left although the budget does not allow it", n)
	}
	w.outage(10 * time.Second)
	two := intstr.FromInt32(2)
	w.eventually("the budget allows one", func() string {
		if err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(budget), budget); err != nil {
			return err.Error()
		}
		budget.Spec.MinAvailable = &two
		return problem(w.admin.Update(t.Context(), budget))
	})
	w.eventually("the first pod leaves", func() string { return expect(fmt.Sprint(told.count() > 0), "true") })
	manager.Kill()
	manager = operator.Start(t, w.Cluster, flags...)
	w.eventually("the node is drained", func() string { return expect(w.machineCondition("m1", "Drained"), "True") })
	w.eventually("the machine waits for the second hook", func() string { return expect(w.machineCondition("m1", "Terminable"), "False HookPresent") })
	w.eventually("the pods run elsewhere", func() string { return w.podsReady("web", "n2", 3) })
	time.Sleep(2 * time.Second)
	if d := cloud.deleted(); len(d) > 0 {
		t.Errorf("%q deleted before the preTerminate hook was removed", d)
	}
	w.releaseHooks("m1", "preTerminate")
	w.eventually("the machine is gone", func() string {
		_, err := w.getMachine(t.Context(), "m1")
		return expect(fmt.Sprint(client.IgnoreNotFound(err) == nil && err != nil), "true")
	})
	w.still() // the state of the machine is removed by the next pass
	w.machineWrites("m1", "n1", cloud)
	if err := manager.Stop(); err != nil {
		t.Error(err)
	}
	w.rightsUsed([]string{"rbac-machines.yaml", "operator.yaml"}, "delete /pods", "get /configmaps", "get apps/daemonsets", "list apps/daemonsets", "watch apps/daemonsets", "list /persistentvolumes", "list storage.k8s.io/volumeattachments",
		"get coordination.k8s.io/leases", "create coordination.k8s.io/leases", "update coordination.k8s.io/leases", "create /events")
}

// The server enforces the preconditions of actions: an object with another
// UID or revision is left alone.
func TestMachinePreconditions(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "crd/machine.yaml")
	w.namespace("shop")
	w.namespace("fleet")
	w.machine(newInstances(t), "m1", "n1", nil)
	w.pod("shop", "p", "n1", nil)
	b := &machines.Backend{Client: w.admin, Cache: w.admin}
	for _, a := range []lifecycle.Action{
		lifecycle.UpdateStatus{Revision: "1", Phase: "Deleting"},
		drain.Evict{Namespace: "shop", Name: "p", UID: "another"},
		drain.DeletePod{Namespace: "shop", Name: "p", UID: "another"},
		drain.Cordon{Node: "n1", UID: "another"},
		lifecycle.DeleteNode{Name: "n1", UID: "another"},
	} {
		var refused *fairlead.RefusedError
		if err := b.Apply(t.Context(), "fleet/m1", a); !errors.As(err, &refused) || refused.Code != 409 {
			t.Errorf("%#v: %v, want a conflict", a, err)
		}
	}
	m, err := w.getMachine(t.Context(), "m1")
	if err != nil {
		t.Fatal(err)
	}
	err = b.Apply(t.Context(), "fleet/m1", lifecycle.UpdateStatus{Revision: m.GetResourceVersion(), Phase: "Deleting", ErrorReason: "X"})
	if err != nil {
		t.Error(err)
	}
	if m, err = w.getMachine(t.Context(), "m1"); err != nil {
		t.Fatal(err)
	}
	node, _, _ := unstructured.NestedString(m.Object, "status", "nodeRef", "name")
	phase, _, _ := unstructured.NestedString(m.Object, "status", "phase")
	if node != "n1" || phase != "Deleting" {
		t.Errorf("status %v", m.Object["status"])
	}
}

func expect(got, want string) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("%q, want %q", got, want)
}

// machineWrites checks the server's audit log of a deletion: each pod evicted
// once, the node deleted once, then the finalizer removed, all with
// preconditions.
func (w *world) machineWrites(machine, node string, cloud *instances) {
	w.Helper()
	var evicted, refused []string
	for _, r := range w.requests(cluster.Filter{User: operator.User, Resource: "pods/eviction"}) {
		switch r.Code {
		case 201:
			evicted = append(evicted, r.Name)
		case 429:
			refused = append(refused, r.Name)
		case 500, 503, 504: // the server was being stopped
		default:
			w.Errorf("eviction of %s: %d", r.Name, r.Code)
		}
		if r.PreconditionUID() == "" {
			w.Errorf("eviction of %s without a UID", r.Name)
		}
	}
	slices.Sort(evicted)
	if len(evicted) != 3 || len(slices.Compact(slices.Clone(evicted))) != 3 {
		w.Errorf("evicted %q, want three pods, once each", evicted)
	}
	w.Logf("evictions: %d, refused by the budget: %d", len(evicted), len(refused))
	nodes := w.requests(cluster.Filter{User: operator.User, Verb: "delete", Resource: "nodes", Name: node})
	if len(nodes) != 1 || nodes[0].Code != 200 || nodes[0].PreconditionUID() == "" {
		w.Errorf("deletions of the node: %+v", nodes)
	}
	patches := w.requests(cluster.Filter{User: operator.User, Verb: "patch", Resource: "machines", Name: machine})
	if len(patches) != 1 || patches[0].Code != 200 {
		w.Errorf("patches of the machine, want the finalizer's alone: %+v", patches)
	}
	if len(nodes) == 1 && len(patches) == 1 && patches[0].Received.Before(nodes[0].Answered) {
		w.Error("the finalizer was removed before the node was")
	}
	if d := cloud.deleted(); !slices.Equal(d, []string{"i-" + machine}) {
		w.Errorf("instances deleted: %q", d)
	}
}

// deployment creates a Deployment whose pods are scheduled.
func (w *world) deployment(name string, replicas int32) {
	w.Helper()
	labels := map[string]string{"app": name}
	none := int64(0)
	w.create(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{TerminationGracePeriodSeconds: &none, Containers: []corev1.Container{{Name: "main", Image: "none"}}},
			},
		},
	})
}

// podsReady returns what is missing for a number of ready pods on a node.
func (w *world) podsReady(app, node string, want int) string {
	var all corev1.PodList
	if err := w.admin.List(w.Context(), &all, client.InNamespace("shop"), client.MatchingLabels{"app": app}); err != nil {
		return err.Error()
	}
	n := 0
	for _, p := range all.Items {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && p.Spec.NodeName == node && p.DeletionTimestamp == nil {
				n++
			}
		}
	}
	return expect(fmt.Sprint(n), fmt.Sprint(want))
}

// Many machines with five pods each are deleted at once. The figures are those of
// the README, for two hundred (FAIRLEAD_LONG=1).
func TestManyMachines(t *testing.T) {
	count, perNode := long.N(40, 200), 5
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "crd/machine.yaml", "rbac-machines.yaml")
	w.namespace("shop")
	w.namespace("fleet")
	cloud := newInstances(t)
	for i := range count {
		node := fmt.Sprintf("n%d", i)
		w.machine(cloud, fmt.Sprintf("m%d", i), node, nil)
		for k := range perNode {
			w.pod("shop", fmt.Sprintf("p-%d-%d", i, k), node, nil)
		}
	}
	manager := operator.Start(t, w.Cluster, "-controllers=machines", "-machines-cloud="+cloud.path, "-leader-elect=false", "-workers=8")
	manager.Ready()
	begin := time.Now()
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() { w.deleteMachine(fmt.Sprintf("m%d", i)) })
	}
	all.Wait()
	w.within(8*time.Minute, "the last machine is gone", func() string {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(machines.Kind.GroupVersion().WithKind("MachineList"))
		if err := w.admin.List(t.Context(), list); err != nil {
			return err.Error()
		}
		return expect(fmt.Sprint(len(list.Items)), "0")
	})
	took := time.Since(begin)
	asked := w.requests(cluster.Filter{User: operator.User, Since: begin})
	evicted := map[string]int{}
	for _, r := range asked {
		if r.Resource == "pods" && r.Subresource == "eviction" && r.Code == 201 {
			evicted[r.Name]++
		}
	}
	for name, n := range evicted {
		if n != 1 {
			t.Errorf("pod %s was evicted %d times", name, n)
		}
	}
	if len(evicted) != count*perNode {
		t.Errorf("%d pods were evicted, want %d", len(evicted), count*perNode)
	}
	d := cloud.deleted()
	slices.Sort(d)
	if len(d) != count || len(slices.Compact(d)) != count {
		t.Errorf("%d deletions of instances, want one for each of %d", len(d), count)
	}
	t.Logf("%d machines with %d pods each: %v", count, perNode, took.Round(100*time.Millisecond))
	t.Logf("%d requests of the operator, %.1f for each machine: %s", len(asked), float64(len(asked))/float64(count), summary(asked))
	t.Logf("memory of the operator: %+v", manager.Memory())
}
