package machines_test

import (
	"context"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// lagging makes the backend's cache contain these objects, whatever the server
// has.
func (c *cluster) lagging(objects ...client.Object) *cluster {
	kind := &unstructured.Unstructured{}
	kind.SetGroupVersionKind(machines.Kind)
	c.backend.Cache = fake.NewClientBuilder().WithObjects(objects...).WithStatusSubresource(kind).WithIndex(&corev1.Pod{}, machines.NodeIndex, nodes.Of).Build()
	return c
}

func cordoned() *corev1.Node {
	n := node()
	n.Spec.Unschedulable = true
	return n
}

// after returns the machine after its drain.
func after(hooks ...any) *unstructured.Unstructured {
	return machine(func(o map[string]any) {
		o["spec"].(map[string]any)["lifecycleHooks"] = map[string]any{"preTerminate": hooks}
		o["status"].(map[string]any)["conditions"] = []any{map[string]any{"type": lifecycle.ConditionDrained, "status": "True"}}
	})
}

// While there is something to evict, nothing is read from the server.
func TestCachedWhileDraining(t *testing.T) {
	c := newCluster(t).lagging(machine(nil), cordoned(), pod("shop", "p", "n")) // the server has nothing
	w, err := c.backend.Observe(t.Context(), "fleet/m")
	if err != nil || w.Machine == nil || w.Node == nil || len(w.Pods) != 1 {
		t.Errorf("%+v, %v", w, err)
	}
	c.lagging(after(), cordoned())
	c.cloud.there = lifecycle.InstanceGone
	if w, err = c.backend.Observe(t.Context(), "fleet/m"); err != nil || w.Machine == nil || w.Node == nil {
		t.Errorf("the instance is gone: %+v, %v", w, err)
	}
}

// Conclusions that cannot be undone are not based on a cache that lags behind.
func TestServerBeforeConclusions(t *testing.T) {
	see := func(c *cluster) *lifecycle.World {
		t.Helper()
		w, err := c.backend.Observe(t.Context(), "fleet/m")
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	c := newCluster(t, machine(nil), cordoned(), pod("shop", "p", "n"))
	if w := see(c.lagging(machine(nil), cordoned())); len(w.Pods) != 1 {
		t.Error("the node counts as empty because the cache does not have its pod")
	}
	if w := see(c.lagging(machine(nil))); w.Node == nil || len(w.Pods) != 1 {
		t.Error("there is nothing to drain because the cache does not have the node")
	}
	unnamed := func() *unstructured.Unstructured { return machine(func(o map[string]any) { delete(o, "status") }) }
	if w := see(newCluster(t, unnamed(), cordoned()).lagging(unnamed())); w.Node == nil {
		t.Error("there is nothing to drain because the cache does not have the node on the machine's instance")
	}
	c.backend.Facts = func(_ context.Context, w *lifecycle.World) error {
		w.Own = []drain.OwnFate{{UID: "u-mine", Fate: drain.FateSkip}}
		return nil
	}
	if w := see(c.lagging(machine(nil), cordoned(), pod("shop", "mine", "n"))); len(w.Pods) != 1 || w.Pods[0].Name != "p" || len(w.Own) != 1 {
		t.Errorf("a pod that is left alone hides another one: %+v", w.Pods)
	}
	c.backend.Facts = nil
	c.backend.Policy = &lifecycle.Policy{Drain: drain.Policy{Rules: []drain.Rule{front()}}}
	ns := &corev1.Namespace{}
	ns.Name, ns.Labels = "shop", map[string]string{"tier": "front"}
	if w := see(c.lagging(machine(nil), cordoned(), pod("shop", "skipped", "n"), ns)); len(w.Pods) != 1 || w.Pods[0].Name != "p" {
		t.Errorf("a pod that a rule skips hides another one: %+v", w.Pods)
	}
	c = newCluster(t, after(map[string]any{"name": "copy", "owner": "x"}), cordoned())
	if w := see(c.lagging(after(), cordoned())); len(w.Machine.Spec.LifecycleHooks.PreTerminate) != 1 {
		t.Error("the instance is deleted although a hook was set")
	}
	stays := machine(func(o map[string]any) { delete(o["metadata"].(map[string]any), "deletionTimestamp") })
	if w := see(newCluster(t, stays, node()).lagging(after(), cordoned())); w.Machine.Deleting() || w.Node != nil {
		t.Error("another machine with the same name is taken for the deleted one")
	}
}

// Writes refused because of a stale cache are made again based on the server.
func TestWritesOnOldViews(t *testing.T) {
	c := newCluster(t, machine(nil), node()).lagging(machine(nil), node())
	for _, o := range []client.Object{machine(nil), node()} {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		o.SetLabels(map[string]string{"changed": "since"})
		if err := c.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range []lifecycle.Action{drain.Cordon{Node: "n", UID: "nu"}, lifecycle.RemoveFinalizer{Finalizer: lifecycle.Finalizer}} {
		if err := c.backend.Apply(t.Context(), "fleet/m", a); err != nil {
			t.Errorf("%#v: %v", a, err)
		}
	}
	var n corev1.Node
	m := machine(nil)
	if err := c.Get(t.Context(), client.ObjectKey{Name: "n"}, &n); err != nil || !n.Spec.Unschedulable {
		t.Error(n.Spec, err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil || slices.Contains(m.GetFinalizers(), lifecycle.Finalizer) || m.GetLabels()["changed"] == "" {
		t.Error(m.Object, err)
	}
	if len(c.asked) != 4 { // each one twice
		t.Errorf("asked %q", c.asked)
	}
}
