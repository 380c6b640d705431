package main

import (
	"context"
	"errors"
	"flag"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	ctrl "sigs.k8s.io/controller-runtime"
)

// machinesController takes machines through their deletion.
type machinesController struct {
	cloud        string
	drainTimeout time.Duration
	volumes      bool
}

func (*machinesController) name() string { return "machines" }

func (c *machinesController) define(flags *flag.FlagSet) {
	flags.StringVar(&c.cloud, "machines-cloud", "", "`program` that is called as PROGRAM exists|delete PROVIDER-ID NAMESPACE/NAME, and prints yes or no for the first")
	flags.DurationVar(&c.drainTimeout, "machines-drain-timeout", 0, "how long a drain may take until it is given up, unless the machine says; 0 means for ever")
	flags.BoolVar(&c.volumes, "machines-wait-for-volumes", false, "wait until volumes are detached from the node")
}

func (c *machinesController) setup(ctx context.Context, mgr ctrl.Manager, s *shared) error {
	if c.cloud == "" {
		return errors.New("-machines-cloud: name the program that knows the instances, or leave the controller out of -controllers")
	}
	store, err := s.store("lifecycle")
	if err != nil {
		return err
	}
	return machines.SetupWithManager(ctx, mgr, machines.Options{
		Policy:  &lifecycle.Policy{DrainTimeout: c.drainTimeout, WaitForVolumes: c.volumes},
		Store:   store,
		Cloud:   &machines.Program{Path: c.cloud},
		Trace:   s.metrics.Trace("lifecycle"),
		Workers: s.workers,
	})
}
