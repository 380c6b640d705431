package eviction

import (
	"context"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// podEvents triggers a pass over the node of a pod.
type podEvents struct{}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (podEvents) Create(_ context.Context, e event.CreateEvent, q queue)   { ask(q, e.Object) }
func (podEvents) Delete(_ context.Context, e event.DeleteEvent, q queue)   { ask(q, e.Object) }
func (podEvents) Generic(_ context.Context, e event.GenericEvent, q queue) { ask(q, e.Object) }
func (podEvents) Update(_ context.Context, e event.UpdateEvent, q queue) {
	ask(q, e.ObjectOld)
	ask(q, e.ObjectNew)
}

func ask(q queue, o client.Object) {
	if p, ok := o.(*corev1.Pod); ok && p.Spec.NodeName != "" {
		q.Add(kube.RequestOf(p.Spec.NodeName))
	}
}

// nodesOfNamespace triggers a pass over every node with a pod in the
// namespace of an object.
func nodesOfNamespace(pods client.Reader) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		var all corev1.PodList
		if err := pods.List(ctx, &all, client.InNamespace(o.GetNamespace())); err != nil {
			log.FromContext(ctx).Error(err, "the pods of a disruption budget", "namespace", o.GetNamespace(), "name", o.GetName())
			return nil
		}
		var out []reconcile.Request
		seen := map[string]bool{}
		for i := range all.Items {
			if node := all.Items[i].Spec.NodeName; node != "" && !seen[node] {
				seen[node] = true
				out = append(out, kube.RequestOf(node))
			}
		}
		return out
	}
}
