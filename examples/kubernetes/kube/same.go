package kube

import (
	"reflect"
	"time"

	"github.com/fairlead/fairlead"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// SameNode reports whether two states of a node are the same to every engine: all that
// [Node] converts is equal, except resourceVersions and the times of heartbeats.
func SameNode(x, y *corev1.Node) bool {
	a, b := Node(x), Node(y)
	a.ResourceVersion, b.ResourceVersion, a.TypeMeta, b.TypeMeta = "", "", fairlead.TypeMeta{}, fairlead.TypeMeta{}
	for i := range a.Status.Conditions {
		a.Status.Conditions[i].LastHeartbeatTime = time.Time{}
	}
	for i := range b.Status.Conditions {
		b.Status.Conditions[i].LastHeartbeatTime = time.Time{}
	}
	return reflect.DeepEqual(a, b) && x.Status.NodeInfo.BootID == y.Status.NodeInfo.BootID
}

// SamePod reports whether two states of a pod are the same to every engine: all that
// [Pod] converts is equal, except resourceVersions, and what containers do, which only
// explains.
func SamePod(x, y *corev1.Pod) bool {
	a, b := Pod(x), Pod(y)
	a.ResourceVersion, b.ResourceVersion, a.TypeMeta, b.TypeMeta = "", "", fairlead.TypeMeta{}, fairlead.TypeMeta{}
	for _, p := range []*fairlead.Pod{&a, &b} {
		p.Status.ContainerStatuses, p.Status.InitContainerStatuses = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// SameBudget reports whether two states of a disruption budget are the same to every
// engine: all that [Budget] converts is equal, except resourceVersions, labels and
// annotations.
func SameBudget(x, y *policyv1.PodDisruptionBudget) bool {
	a, b := Budget(x), Budget(y)
	for _, c := range []*fairlead.PodDisruptionBudget{&a, &b} {
		c.ResourceVersion, c.TypeMeta, c.Labels, c.Annotations = "", fairlead.TypeMeta{}, nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// Decisive is a predicate for nodes, pods and disruption budgets: of their updates it
// passes on only those that change what engines see, such as no heartbeat. Updates of
// other objects pass.
func Decisive() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		switch n := e.ObjectNew.(type) {
		case *corev1.Node:
			o, is := e.ObjectOld.(*corev1.Node)
			return !is || !SameNode(o, n)
		case *corev1.Pod:
			o, is := e.ObjectOld.(*corev1.Pod)
			return !is || !SamePod(o, n)
		case *policyv1.PodDisruptionBudget:
			o, is := e.ObjectOld.(*policyv1.PodDisruptionBudget)
			return !is || !SameBudget(o, n)
		}
		return !same(e.ObjectOld, e.ObjectNew)
	}}
}

// same reports whether an event is a resync of the informer, without a change.
func same(x, y client.Object) bool {
	return x != nil && y != nil && x.GetResourceVersion() != "" && x.GetResourceVersion() == y.GetResourceVersion()
}
