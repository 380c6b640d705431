package kube_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/leaves"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// TestSame changes each field of a node, a pod and a budget, one after the other: a change that
// engines see must pass, and one that they do not see must not.
func TestSame(t *testing.T) {
	p := &corev1.Pod{}
	leaves.Fill(p)
	seen := vary(t, "pod", p, func(o any) any {
		c := kube.Pod(o.(*corev1.Pod))
		c.Status.ContainerStatuses, c.Status.InitContainerStatuses = nil, nil
		return c
	}, func(old any) bool { return kube.SamePod(old.(*corev1.Pod), p) }, func() any { return p.DeepCopy() })
	for _, field := range []string{".Spec.Tolerations[0].TolerationSeconds", ".Spec.NodeName", ".Status.Phase", ".Spec.TerminationGracePeriodSeconds", ".ObjectMeta.DeletionTimestamp.Time"} {
		if !seen[field] {
			t.Errorf("no change of a pod's %s: %v", field, seen)
		}
	}
	n := &corev1.Node{}
	leaves.Fill(n)
	seen = vary(t, "node", n, func(o any) any {
		n := o.(*corev1.Node)
		c := kube.Node(n)
		for i := range c.Status.Conditions {
			c.Status.Conditions[i].LastHeartbeatTime = time.Time{}
		}
		return []any{c, n.Status.NodeInfo.BootID}
	}, func(old any) bool { return kube.SameNode(old.(*corev1.Node), n) }, func() any { return n.DeepCopy() })
	for _, field := range []string{".Spec.Taints[0].Value", ".Spec.Unschedulable", ".Status.Conditions[0].Status", ".Status.VolumesAttached[0].Name"} {
		if !seen[field] {
			t.Errorf("no change of a node's %s: %v", field, seen)
		}
	}
	if seen[".Status.Conditions[0].LastHeartbeatTime.Time"] {
		t.Error("a heartbeat passes")
	}
	b := &policyv1.PodDisruptionBudget{}
	leaves.Fill(b)
	seen = vary(t, "budget", b, func(o any) any {
		c := kube.Budget(o.(*policyv1.PodDisruptionBudget))
		c.Labels, c.Annotations = nil, nil
		return c
	}, func(old any) bool { return kube.SameBudget(old.(*policyv1.PodDisruptionBudget), b) }, func() any { return b.DeepCopy() })
	for _, field := range []string{".Status.DisruptionsAllowed", ".Status.ObservedGeneration", ".ObjectMeta.Generation"} {
		if !seen[field] {
			t.Errorf("no change of a budget's %s: %v", field, seen)
		}
	}
}

// vary changes every leaf of an object, and returns which changes engines see.
func vary(t *testing.T, what string, o any, view func(any) any, same func(old any) bool, clone func() any) map[string]bool {
	seen := map[string]bool{}
	leaves.Each(o, func(path string, v reflect.Value) {
		if strings.HasSuffix(path, "ResourceVersion") || strings.HasPrefix(path, ".TypeMeta") {
			return
		}
		old, was := clone(), reflect.New(v.Type()).Elem()
		was.Set(v)
		if !leaves.Alter(v) {
			return
		}
		differs := !reflect.DeepEqual(view(old), view(o))
		if differs == same(old) {
			t.Errorf("%s%s: engines see the change: %v, and it passes: %v", what, path, differs, !same(old))
		}
		seen[path] = differs
		v.Set(was)
	})
	return seen
}

// A resync is not a change.
func TestDecisive(t *testing.T) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1"}}
	if kube.Decisive().Update(event.UpdateEvent{ObjectOld: p, ObjectNew: p}) {
		t.Error("it passes")
	}
}
