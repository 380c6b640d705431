package kube_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// TestSame changes each field of a node, a pod and a budget, one after the other: a change that
// engines see must pass, and one that they do not see must not.
func TestSame(t *testing.T) {
	p := &corev1.Pod{}
	fill(reflect.ValueOf(p).Elem(), 0)
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
	fill(reflect.ValueOf(n).Elem(), 0)
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
	fill(reflect.ValueOf(b).Elem(), 0)
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
	leaves(reflect.ValueOf(o).Elem(), "", func(path string, v reflect.Value) {
		if strings.HasSuffix(path, "ResourceVersion") || strings.HasPrefix(path, ".TypeMeta") {
			return
		}
		old, was := clone(), reflect.New(v.Type()).Elem()
		was.Set(v)
		if !alter(v) {
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

// fill sets every field, so deep that lists of objects have one element.
func fill(v reflect.Value, depth int) {
	switch {
	case depth > 7 || !v.CanSet():
	case v.Type() == reflect.TypeFor[metav1.Time]():
		v.Set(reflect.ValueOf(metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))))
	case v.Type() == reflect.TypeFor[resource.Quantity]():
		v.Set(reflect.ValueOf(resource.MustParse("2")))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	default:
		alter(v)
	}
}

// leaves calls f for every leaf.
func leaves(v reflect.Value, path string, f func(string, reflect.Value)) {
	switch {
	case !v.CanSet():
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Kind() != reflect.Struct:
		f(path, v)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		leaves(v.Elem(), path, f)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		for i := range v.Len() {
			leaves(v.Index(i), fmt.Sprintf("%s[%d]", path, i), f)
		}
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]() && v.Type() != reflect.TypeFor[resource.Quantity]():
		for i := range v.NumField() {
			leaves(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	default:
		f(path, v)
	}
}

// alter changes a leaf.
func alter(v reflect.Value) bool {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(v.Interface().(time.Time).Add(time.Hour)))
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "x")
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		next := reflect.New(v.Type().Elem())
		next.Elem().Set(v.Elem())
		if !alter(next.Elem()) {
			return false
		}
		v.Set(next)
	case v.Type() == reflect.TypeFor[map[string]string]():
		v.Set(reflect.ValueOf(map[string]string{"k": fmt.Sprint(v.Len(), v.Interface())}))
	default:
		return false
	}
	return true
}

// A resync is not a change.
func TestDecisive(t *testing.T) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1"}}
	if kube.Decisive().Update(event.UpdateEvent{ObjectOld: p, ObjectNew: p}) {
		t.Error("it passes")
	}
}
