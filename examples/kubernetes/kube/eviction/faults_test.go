package eviction_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/eviction"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestFaults: whatever goes wrong with the server, the pods of a node that they do not tolerate go, each
// once, and no others.
func TestFaults(t *testing.T) {
	budget.Faults(t, "eviction: two pods leave a node with a taint that they do not tolerate", func(t *testing.T, s *budget.Server) func(ctrl.Manager) error {
		s.Rights(t, "rbac-eviction.yaml")
		nodes := budget.Nodes(3, nil, nil)
		nodes[0].(*corev1.Node).Spec.Taints = []corev1.Taint{{Key: "out", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: time.Now()}}}
		var pods []any
		for i := range 6 {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("p", i), UID: types.UID(fmt.Sprint("p", i))}, Spec: corev1.PodSpec{NodeName: fmt.Sprint("n", i%2)}}
			if i == 4 {
				p.Spec.Tolerations = []corev1.Toleration{{Key: "out", Operator: corev1.TolerationOpExists}}
			}
			pods = append(pods, p)
		}
		s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, nodes...)
		s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"), true, pods...)
		return func(mgr ctrl.Manager) error {
			store, err := budget.Store(mgr, "eviction")
			if err != nil {
				return err
			}
			return eviction.SetupWithManager(t.Context(), mgr, eviction.Options{Store: store})
		}
	})
}
