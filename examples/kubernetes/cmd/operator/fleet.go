package main

import (
	"context"
	"flag"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/fleet"
	ctrl "sigs.k8s.io/controller-runtime"
)

// fleetController replaces unhealthy machines.
type fleetController struct{ api string }

func (*fleetController) name() string { return "fleet" }

func (c *fleetController) define(flags *flag.FlagSet) {
	flags.StringVar(&c.api, "fleet-api", machineAPI, "API of the MachineHealthChecks: MachineAPI (machine.openshift.io/v1beta1) or ClusterAPI (cluster.x-k8s.io/v1beta2)")
}

func (c *fleetController) setup(_ context.Context, mgr ctrl.Manager, s *shared) error {
	kind, err := machineKind("-fleet-api", c.api)
	if err != nil {
		return err
	}
	return fleet.SetupWithManager(mgr, fleet.Options{Kind: kind, Workers: s.workers})
}
