package nodes

import (
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// NodeMatters reports whether a change of a node may change a decision.
func NodeMatters(e event.UpdateEvent) bool {
	o, n := e.ObjectOld.(*corev1.Node), e.ObjectNew.(*corev1.Node)
	return o.UID != n.UID || o.Spec.Unschedulable != n.Spec.Unschedulable || len(o.Spec.Taints) != len(n.Spec.Taints) ||
		len(o.Status.VolumesAttached) != len(n.Status.VolumesAttached) || kube.Readiness(o) != kube.Readiness(n) ||
		o.Status.NodeInfo.BootID != n.Status.NodeInfo.BootID
}

// PodMatters reports whether a change of a pod may change a decision.
func PodMatters(e event.UpdateEvent) bool {
	o, n := e.ObjectOld.(*corev1.Pod), e.ObjectNew.(*corev1.Pod)
	return o.UID != n.UID || o.Spec.NodeName != n.Spec.NodeName || o.Status.Phase != n.Status.Phase ||
		(o.DeletionTimestamp == nil) != (n.DeletionTimestamp == nil)
}
