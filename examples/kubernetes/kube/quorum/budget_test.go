package quorum_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/quorum"
	engine "github.com/fairlead/fairlead/lifecycle/quorum"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// three fills a server with a control plane of three members.
func three(t *testing.T, s *budget.Server) func(ctrl.Manager) error {
	var nodes, pods, all []any
	for i := range 3 {
		nodes, pods, all = append(nodes, host(i+1)), append(pods, etcdPod(i+1, true)), append(all, controlPlane(i+1))
	}
	s.Kind(corev1.SchemeGroupVersion.WithKind("Node"), false, nodes...)
	s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"), true, pods...)
	s.Kind(machines.Kind, true, all...)
	b := *newPlane(t, 3).backend
	b.Client = nil
	return func(mgr ctrl.Manager) error {
		return quorum.SetupWithManager(mgr, quorum.Options{Backend: b, Policy: &engine.Policy{Resync: time.Hour}})
	}
}

// TestAtRest: heartbeats of the nodes of a control plane cause no request.
func TestAtRest(t *testing.T) {
	s := budget.New(t)
	s.AtRest(t, 300, three(t, s))
}

// TestFaults: whatever goes wrong with the server, each machine of the control plane gets the hook by
// which its member is guarded.
func TestFaults(t *testing.T) { budget.Faults(t, three) }
