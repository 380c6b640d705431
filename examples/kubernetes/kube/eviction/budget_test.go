package eviction_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/eviction"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	engine "github.com/fairlead/fairlead/taints/eviction"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestAtRest: once the pods that tolerate nothing are gone, heartbeats and leases of 500
// nodes and changes of their pods cause no request, neither with the lifecycle of nodes
// nor with budgets.
func TestAtRest(t *testing.T) {
	for name, policy := range map[string]*engine.Policy{
		"eviction alone": {},
		"budgets":        {RespectBudgets: true},
		"lifecycle":      {NodeLifecycle: &engine.NodeLifecycle{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := budget.New(t)
			nodes, now := budget.Nodes(budget.Size(), nil, nil), metav1.NowMicro()
			var pods, leases []any
			for i := range nodes {
				node := nodes[i].(*corev1.Node)
				pods = append(pods, &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("p", i), UID: "p"},
					Spec:       corev1.PodSpec{NodeName: node.Name},
				})
				leases = append(leases, &coordinationv1.Lease{
					ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: node.Name}, Spec: coordinationv1.LeaseSpec{RenewTime: &now},
				})
			}
			first := nodes[0].(*corev1.Node)
			first.Spec.Taints = []corev1.Taint{{Key: "out", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: time.Now()}}}
			s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, nodes...)
			s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"), true, pods...)
			s.Kind(coordinationv1.SchemeGroupVersion.WithKind("Lease"), true, leases...)
			s.Kind(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), true)
			s.AtRest(t, 1000, func(mgr ctrl.Manager) error {
				return eviction.SetupWithManager(t.Context(), mgr, eviction.Options{Policy: policy, Store: new(fairlead.MemStore)})
			})
		})
	}
}
