package main

import (
	"context"
	"flag"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/fleet"
	ctrl "sigs.k8s.io/controller-runtime"
)

// controlPlaneController replaces the machines of control planes.
type controlPlaneController struct{}

func (controlPlaneController) name() string { return "controlplane" }

func (controlPlaneController) define(*flag.FlagSet) {}

func (controlPlaneController) setup(_ context.Context, mgr ctrl.Manager, s *shared) error {
	return fleet.SetupControlPlaneWithManager(mgr, fleet.Options{Workers: s.workers})
}
