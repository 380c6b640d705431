package main

import (
	"context"
	"flag"
	"os"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/rollout"
	ctrl "sigs.k8s.io/controller-runtime"
)

// rolloutController brings nodes of MachineConfigPools to new configurations.
type rolloutController struct{ last string }

func (*rolloutController) name() string { return "rollout" }

func (c *rolloutController) define(flags *flag.FlagSet) {
	flags.StringVar(&c.last, "rollout-node-name", os.Getenv("NODE_NAME"), "`node` that this program runs on, which is updated last; the default is $NODE_NAME")
}

func (c *rolloutController) setup(_ context.Context, mgr ctrl.Manager, s *shared) error {
	store, err := s.store("rollout")
	if err != nil {
		return err
	}
	return rollout.SetupWithManager(mgr, rollout.Options{Store: store, Last: c.last, Trace: s.metrics.Trace("rollout")})
}
