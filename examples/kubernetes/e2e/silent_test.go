package e2e_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/e2e/operator"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A node that falls silent is marked, tainted, and its pods leave as far as
// their disruption budgets allow; the operator needs every permission that
// its manifests grant, and no other.
func TestSilentNode(t *testing.T) {
	w := newWorld(t, nil)
	operator.Install(t, w.Cluster, "rbac-eviction.yaml")
	w.namespace("shop")
	for _, node := range []string{"n1", "n2", "n3"} {
		if err := w.kubelets.AddNode(t.Context(), node, nil); err != nil {
			t.Fatal(err)
		}
	}
	stop := w.renewLeases("n2", "n3") // and not that of n1
	defer stop()
	left := w.departures("shop")
	guarded := func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "guarded"}
		two := int64(2)
		for _, key := range []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady} {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &two,
			})
		}
	}
	pods := map[string]types.UID{}
	for _, name := range []string{"a", "b"} {
		pods[name] = w.pod("shop", name, "n1", guarded).UID
	}
	w.pod("shop", "elsewhere", "n2", guarded)
	none := intstr.FromInt32(3)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "guard"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &none, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "guarded"}}},
	}
	w.create(budget)
	manager := operator.Start(t, w.Cluster, "-controllers=eviction", "-eviction-lifecycle", "-eviction-budgets")
	manager.Ready()
	w.eventually("the silent node is tainted", func() string {
		var n corev1.Node
		if err := w.admin.Get(t.Context(), client.ObjectKey{Name: "n1"}, &n); err != nil {
			return err.Error()
		}
		for _, taint := range n.Spec.Taints {
			if taint.Key == corev1.TaintNodeUnreachable && taint.Effect == corev1.TaintEffectNoExecute {
				return ""
			}
		}
		return fmt.Sprint(n.Spec.Taints)
	})
	w.eventually("its pods are not ready", func() string {
		var p corev1.Pod
		if err := w.admin.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "a"}, &p); err != nil {
			return err.Error()
		}
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse {
				return ""
			}
		}
		return fmt.Sprint(p.Status.Conditions)
	})
	time.Sleep(5 * time.Second)
	if left.count() > 0 || !left.of("a").IsZero() {
		t.Error("a pod had to leave against its disruption budget")
	}
	if err := w.admin.Delete(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	w.eventually("its pods have to leave", func() string {
		if left.of("a").IsZero() || left.of("b").IsZero() {
			return "they have not"
		}
		return ""
	})
	if !left.of("elsewhere").IsZero() {
		t.Error("a pod of a node that reports had to leave")
	}
	if err := manager.Stop(); err != nil {
		t.Error(err)
	}
	w.rightsUsed([]string{"rbac-eviction.yaml", "operator.yaml"}, "delete /pods", "get /configmaps", "delete /configmaps",
		"get /nodes") // only if the cache is behind
}

// renewLeases simulates the lease renewals of kubelets, every ten seconds.
func (w *world) renewLeases(nodes ...string) (stop func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	w.eventually("the namespace of leases", func() string {
		return problem(client.IgnoreAlreadyExists(w.admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: corev1.NamespaceNodeLease}})))
	})
	var all sync.WaitGroup
	for _, node := range nodes {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: node}}
		w.create(lease)
		all.Go(func() {
			for ctx.Err() == nil {
				now := metav1.NewMicroTime(time.Now())
				lease.Spec.RenewTime = &now
				if err := w.admin.Update(ctx, lease); err != nil && ctx.Err() == nil {
					w.Errorf("lease of %s: %v", node, err)
				}
				select {
				case <-ctx.Done():
				case <-time.After(5 * time.Second):
				}
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}
