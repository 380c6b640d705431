package rollout_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	engine "github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/rollout"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestAtRest: heartbeats of 500 nodes cause no request.
func TestAtRest(t *testing.T) {
	s := budget.New(t)
	s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, budget.Nodes(budget.Size(), map[string]string{"role": "worker"}, map[string]string{
		engine.AnnotationCurrent: "a", engine.AnnotationDesired: "a", engine.AnnotationState: engine.StateDone,
	})...)
	s.Kind(rollout.Kind, false, pool("worker", "a").Object)
	s.Kind(drain.Kind, false)
	s.Kind(buildKind, false)
	s.AtRest(t, 1000, func(mgr ctrl.Manager) error {
		return rollout.SetupWithManager(mgr, rollout.Options{Store: new(fairlead.MemStore)})
	})
}
