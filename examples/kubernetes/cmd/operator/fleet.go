package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/fleet"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
)

// fleetController has machines replaced that are not healthy.
type fleetController struct{ api string }

func (*fleetController) name() string { return "fleet" }

func (c *fleetController) define(flags *flag.FlagSet) {
	flags.StringVar(&c.api, "fleet-api", machineAPI, "whose MachineHealthChecks: MachineAPI (machine.openshift.io/v1beta1) or ClusterAPI (cluster.x-k8s.io/v1beta2)")
}

func (c *fleetController) setup(_ context.Context, mgr ctrl.Manager, s *shared) error {
	kind, err := machineKind("-fleet-api", c.api)
	if err != nil {
		return err
	}
	return fleet.SetupWithManager(mgr, fleet.Options{Kind: kind, Workers: s.workers})
}

// The APIs of machines, as flags name them.
const (
	machineAPI = "MachineAPI"
	clusterAPI = "ClusterAPI"
)

// machineKind is the kind of machines that the flag of a name asks for.
func machineKind(flag, api string) (schema.GroupVersionKind, error) {
	switch api {
	case machineAPI:
		return machines.Kind, nil
	case clusterAPI:
		return machines.KindClusterAPI, nil
	}
	return schema.GroupVersionKind{}, fmt.Errorf("%s: there is no %q; write %s or %s", flag, api, machineAPI, clusterAPI)
}
