package budget

import (
	"fmt"

	"github.com/fairlead/fairlead/internal/long"
	"github.com/fairlead/fairlead/lifecycle"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Size is how many nodes the cluster of a test has: 500, or 5,000 in long runs.
func Size() int { return long.N(500, 5_000) }

// Nodes returns n nodes that are ready.
func Nodes(n int, labels, annotations map[string]string) []any {
	all := make([]any, n)
	for i := range all {
		name := fmt.Sprint("n", i)
		all[i] = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: "u", Labels: labels, Annotations: annotations},
			Spec:       corev1.NodeSpec{ProviderID: "cloud:///" + name},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}
	}
	return all
}

// Machines returns the machines of the nodes that [Nodes] returns: workers, with the finalizer.
func Machines(n int) []any {
	all := make([]any, n)
	for i := range all {
		name := fmt.Sprint("n", i)
		all[i] = map[string]any{
			"metadata": map[string]any{"namespace": "fleet", "name": name, "uid": "m", "labels": map[string]any{"role": "worker"}, "finalizers": []any{lifecycle.Finalizer}},
			"spec":     map[string]any{"providerID": "cloud:///" + name}, "status": map[string]any{"nodeRef": map[string]any{"name": name}},
		}
	}
	return all
}
