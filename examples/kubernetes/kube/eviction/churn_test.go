package eviction_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/eviction"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/internal/long"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestChurn: nodes come, with a taint and a pod that does not tolerate it for long, and go, each under a
// name of its own: no state is left, and no memory. It is a thousand nodes, or with FAIRLEAD_LONG=1
// 250,000, with a million events.
func TestChurn(t *testing.T) {
	s := budget.New(t)
	s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false)
	s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"), true)
	store := new(fairlead.MemStore)
	node := func(i int) *unstructured.Unstructured {
		u := kube.Stub(corev1.SchemeGroupVersion.WithKind("Node"), "", fmt.Sprint("n", i))
		u.Object["spec"] = map[string]any{"taints": []any{map[string]any{"key": "out", "effect": "NoExecute", "timeAdded": time.Now().UTC().Format(time.RFC3339)}}}
		return u
	}
	pod := func(i int) *unstructured.Unstructured {
		u := kube.Stub(corev1.SchemeGroupVersion.WithKind("Pod"), "shop", fmt.Sprint("p", i))
		u.Object["spec"] = map[string]any{"nodeName": fmt.Sprint("n", i), "tolerations": []any{map[string]any{"key": "out", "operator": "Exists", "tolerationSeconds": int64(i % 3 * 3600)}}}
		return u
	}
	const stay = 20
	s.Churn(t, long.N(1_000, 250_000), func(mgr ctrl.Manager) error {
		return eviction.SetupWithManager(t.Context(), mgr, eviction.Options{Store: store})
	}, func(i int) {
		s.Put(node(i))
		s.Put(pod(i))
		s.Remove(pod(i - stay))
		s.Remove(node(i - stay))
	})
	if n := budget.States(t, store); n > stay {
		t.Errorf("%d states are left, and %d nodes", n, stay)
	}
}
