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

// controller is one that the operator can run.
type controller interface {
	// name is what -controllers calls it.
	name() string
	// define defines its own flags, all beginning with its name.
	define(*flag.FlagSet)
	// setup adds it to the manager.
	setup(ctx context.Context, mgr ctrl.Manager, s *shared) error
}

// newControllers returns all that there are.
func newControllers() []controller {
	return []controller{new(evictionController), new(machinesController), new(drainController), new(fleetController), new(controlPlaneController), new(quorumController), new(clusterVersionController), new(rolloutController), new(operatorsController), new(extensionsController), new(planController)}
}

// shared is what the controllers have in common.
type shared struct {
	workers   int
	namespace string // of the operator's own objects
	metrics   *kube.Metrics
	registry  *registry.Client // nil if images are on disk alone
	// store returns the store of an engine, for the term as leader that begins.
	store func(engine string) (fairlead.Store, error)
}

// names lists controllers.
func names(of []controller) string {
	var all []string
	for _, c := range of {
		all = append(all, c.name())
	}
	return strings.Join(all, ",")
}
