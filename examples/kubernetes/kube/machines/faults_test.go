package machines_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
)

// instances are the instances of a cloud: each is gone once it was deleted.
type instances struct {
	mu      sync.Mutex
	deleted map[string]int
}

func (c *instances) Instance(_ context.Context, m *lifecycle.Machine) (lifecycle.Instance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deleted[m.Name] > 0 {
		return lifecycle.InstanceGone, nil
	}
	return lifecycle.InstanceExists, nil
}

func (c *instances) Delete(_ context.Context, m *lifecycle.Machine) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deleted[m.Name]++
	return nil
}

// TestFaults: whatever goes wrong with the server, a machine that is being deleted goes, with its pods, its
// instance and its node, each once; the others stay as they are.
func TestFaults(t *testing.T) {
	budget.Faults(t, "machines: a machine with five pods is deleted", func(t *testing.T, s *budget.Server) func(ctrl.Manager) error {
		s.Rights(t, "rbac-machines.yaml")
		yes := true
		all := budget.Machines(3)
		all[0].(map[string]any)["metadata"].(map[string]any)["deletionTimestamp"] = "2026-03-01T12:00:00Z"
		var pods []any
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "r", Controller: &yes}}}, Spec: corev1.PodSpec{NodeName: "n0"}})
		}
		s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, budget.Nodes(3, nil, nil)...)
		s.Kind(machines.Kind, true, all...)
		s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"), true, pods...)
		s.Kind(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), true)
		s.Still = 35 * time.Second // the cloud is asked again after thirty
		cloud := &instances{deleted: map[string]int{}}
		t.Cleanup(func() {
			if len(cloud.deleted) != 1 {
				t.Errorf("instances deleted: %v", cloud.deleted)
			}
		})
		return func(mgr ctrl.Manager) error {
			store, err := budget.Store(mgr, "machines")
			if err != nil {
				return err
			}
			return machines.SetupWithManager(t.Context(), mgr, machines.Options{Store: store, Cloud: cloud})
		}
	})
}
