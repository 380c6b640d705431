package rollout_test

import (
	"testing"

	engine "github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/rollout"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestFaults: whatever goes wrong with the server, one node of a pool gets the new configuration, and
// no more than one, and the pool says so.
func TestFaults(t *testing.T) {
	budget.Faults(t, "rollout: one node of a pool gets a new configuration", func(t *testing.T, s *budget.Server) func(ctrl.Manager) error {
		s.Rights(t, "rbac-rollout.yaml")
		s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, budget.Nodes(3, map[string]string{"role": "worker"}, map[string]string{
			engine.AnnotationCurrent: "a", engine.AnnotationDesired: "a", engine.AnnotationState: engine.StateDone,
		})...)
		s.Kind(rollout.Kind, false, pool("worker", "b").Object)
		s.Kind(drain.Kind, false)
		s.Kind(buildKind, false)
		return func(mgr ctrl.Manager) error {
			store, err := budget.Store(mgr, "rollout")
			if err != nil {
				return err
			}
			return rollout.SetupWithManager(mgr, rollout.Options{Store: store})
		}
	})
}
