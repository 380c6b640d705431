package machines_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/taints"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// tainted returns a machine with taints whose node is n, of UID n-1.
func tainted(kind schema.GroupVersionKind, list ...any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec":   map[string]any{"taints": list},
		"status": map[string]any{"nodeRef": map[string]any{"kind": "Node", "name": "n", "uid": "n-1"}},
	}}
	u.SetGroupVersionKind(kind)
	u.SetNamespace("m")
	u.SetName("a")
	return u
}

// Each API's own rule about the taints of machines reaches the node, once; other taints stay.
func TestTaints(t *testing.T) {
	gpu := map[string]any{"key": "gpu", "value": "yes", "effect": "NoSchedule", "propagation": "Always"}
	old := []corev1.Taint{{Key: "gpu", Value: "old", Effect: "NoSchedule"}, {Key: "own", Effect: "NoExecute"}}
	being := tainted(machines.KindClusterAPI, gpu)
	being.SetFinalizers([]string{"f"})
	at := metav1.Now()
	being.SetDeletionTimestamp(&at)
	for _, c := range []struct {
		name    string
		machine *unstructured.Unstructured
		uid     types.UID
		before  []corev1.Taint
		after   string // taints of the node
		noted   string // the annotation
		writes  int
	}{
		{name: "Machine API", machine: tainted(machines.Kind, gpu), after: "[gpu=yes:NoSchedule]", writes: 1},
		{name: "Machine API, it has it with another value", machine: tainted(machines.Kind, gpu), before: old, after: "[gpu=old:NoSchedule own:NoExecute]"},
		{name: "Cluster API", machine: tainted(machines.KindClusterAPI, gpu), before: old, after: "[gpu=yes:NoSchedule own:NoExecute]", noted: "gpu:NoSchedule", writes: 1},
		{name: "no taints", machine: tainted(machines.Kind), before: old, after: "[gpu=old:NoSchedule own:NoExecute]"},
		{name: "another node of the name", machine: tainted(machines.Kind, gpu), uid: "n-2", after: "[]"},
		{name: "being deleted", machine: being, after: "[]"},
	} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n-1"}, Spec: corev1.NodeSpec{Taints: c.before}}
		if c.uid != "" {
			n.UID = c.uid
		}
		k := newCluster(t, n, c.machine)
		r := &machines.Taints{Client: k, Cache: k, Kind: c.machine.GroupVersionKind()}
		request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c.machine)}
		for range 2 { // the second time there is nothing to do
			if _, err := r.Reconcile(t.Context(), request); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		var now corev1.Node
		if err := k.Get(t.Context(), client.ObjectKey{Name: "n"}, &now); err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, taint := range now.Spec.Taints {
			list = append(list, taint.ToString())
		}
		if fmt.Sprint(list) != c.after || now.Annotations[taints.AnnotationMachineTaints] != c.noted || len(k.asked) != c.writes {
			t.Errorf("%s: %v, noted %q, after %q", c.name, list, now.Annotations[taints.AnnotationMachineTaints], k.asked)
		}
	}
}

// What cannot be done is an error that names the machine; a machine that is gone is none.
func TestTaintsErrors(t *testing.T) {
	m := tainted(machines.Kind, map[string]any{"key": "gpu", "effect": "NoSchedule"})
	k := newCluster(t, m, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n-1"}})
	r := &machines.Taints{Client: k, Cache: k}
	k.fail = apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n", nil)
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(m)}
	if _, err := r.Reconcile(t.Context(), request); err == nil || !strings.Contains(err.Error(), "machine m/a: taints of node n") {
		t.Error(err)
	}
	k.fail, k.asked = apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, "n", nil), nil
	if _, err := r.Reconcile(t.Context(), request); !apierrors.IsConflict(err) || len(k.asked) != 2 {
		t.Errorf("a conflict: %v, after %q", err, k.asked)
	}
	request.Name = "gone"
	if _, err := r.Reconcile(t.Context(), request); err != nil {
		t.Error(err)
	}
}

// What others wrote to the node meanwhile stays, although the cache does not have it yet; a machine that does not
// say which node of the name it means is of the one that is there.
func TestTaintsStale(t *testing.T) {
	m := tainted(machines.Kind, map[string]any{"key": "gpu", "effect": "NoSchedule"})
	if err := unstructured.SetNestedMap(m.Object, map[string]any{"name": "n"}, "status", "nodeRef"); err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n-1"}}
	stale, k := newCluster(t, m.DeepCopy(), node.DeepCopy()), newCluster(t, m, node)
	var n corev1.Node
	if err := k.Get(t.Context(), client.ObjectKey{Name: "n"}, &n); err != nil {
		t.Fatal(err)
	}
	n.Spec.Taints = []corev1.Taint{{Key: "own", Effect: "NoExecute"}}
	if err := k.Update(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	r := &machines.Taints{Client: k, Cache: stale}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(m)}); err != nil {
		t.Fatal(err)
	}
	if err := k.Get(t.Context(), client.ObjectKey{Name: "n"}, &n); err != nil || len(n.Spec.Taints) != 2 {
		t.Errorf("%v: %v", err, n.Spec.Taints)
	}
}
