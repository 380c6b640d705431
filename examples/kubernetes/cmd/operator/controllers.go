package main

import (
	"context"
	"flag"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/registry"
)

// controller is a controller that the operator can run.
type controller interface {
	// name returns its name in -controllers.
	name() string
	// define defines its flags, all beginning with its name.
	define(*flag.FlagSet)
	// setup adds it to the manager.
	setup(ctx context.Context, mgr ctrl.Manager, s *shared) error
}

// newControllers returns all controllers.
func newControllers() []controller {
	return []controller{new(evictionController), new(machinesController), new(drainController), new(fleetController), new(controlPlaneController), new(quorumController), new(clusterVersionController), new(rolloutController), new(operatorsController), new(extensionsController), new(planController)}
}

// shared contains what the controllers have in common.
type shared struct {
	workers   int
	namespace string // of the operator's own objects
	metrics   *kube.Metrics
	registry  *registry.Client // nil if images are only on disk
	catalogs  *registrySettings
	// store returns the store of an engine, for the beginning term as leader.
	store func(engine string) (fairlead.Store, error)
}

// names returns the names of controllers, as a list.
func names(of []controller) string {
	var all []string
	for _, c := range of {
		all = append(all, c.name())
	}
	return strings.Join(all, ",")
}
