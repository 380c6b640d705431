package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A pod without a grace period that the server marked as deleted, before it was
// stopped and could remove it, is removed by its kubelet. One with a finalizer
// is left alone.
func TestKubeletsRemoveMarkedPods(t *testing.T) {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{readyCondition(corev1.ConditionTrue)}},
	}
	nodes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	if err := nodes.Add(node); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		marked     time.Duration // how long ago
		finalizers []string
		gone, wait bool
	}{
		{"marked a minute ago", time.Minute, nil, true, false},
		{"marked just now", 0, nil, false, true},
		{"with a finalizer", time.Minute, []string{"example.com/keep"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, none := metav1.NewTime(time.Now().Add(-c.marked)), int64(0)
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: "shop", Name: "web", UID: "u", Finalizers: c.finalizers,
					DeletionTimestamp: &at, DeletionGracePeriodSeconds: &none,
				},
				Spec: corev1.PodSpec{NodeName: "a"},
			}
			k := &Kubelets{
				client: fake.NewClientset(node, pod),
				pods:   cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
				nodes:  listers.NewNodeLister(nodes),
			}
			if err := k.pods.Add(pod); err != nil {
				t.Fatal(err)
			}
			again, err := k.look(t.Context(), "shop/web")
			if err != nil {
				t.Fatal(err)
			}
			if (again > 0) != c.wait {
				t.Errorf("looks again after %v", again)
			}
			_, err = k.client.CoreV1().Pods("shop").Get(t.Context(), "web", metav1.GetOptions{})
			if apierrors.IsNotFound(err) != c.gone {
				t.Errorf("afterwards: %v, want the pod gone: %v", err, c.gone)
			}
		})
	}
}
