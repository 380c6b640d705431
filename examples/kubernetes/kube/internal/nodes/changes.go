package nodes

import (
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// NodeMatters reports whether a change of a node may change a decision.
func NodeMatters(e event.UpdateEvent) bool {
	o, n := e.ObjectOld.(*corev1.Node), e.ObjectNew.(*corev1.Node)
	return !kube.SameNode(o, n)
}

// PodMatters reports whether a change of a pod may change a decision.
func PodMatters(e event.UpdateEvent) bool {
	o, n := e.ObjectOld.(*corev1.Pod), e.ObjectNew.(*corev1.Pod)
	return !kube.SamePod(o, n)
}
