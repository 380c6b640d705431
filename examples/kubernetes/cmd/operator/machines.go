package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/machines"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
)

// machinesController takes machines through their deletion.
type machinesController struct {
	api          string
	cloud        string
	drainTimeout time.Duration
	volumes      bool
	taints       bool
	most         int
}

func (*machinesController) name() string { return "machines" }

func (c *machinesController) define(flags *flag.FlagSet) {
	flags.StringVar(&c.api, "machines-api", machineAPI, "API of the machines: MachineAPI (machine.openshift.io/v1beta1) or ClusterAPI (cluster.x-k8s.io/v1beta2)")
	flags.IntVar(&c.most, "machines-at-a-time", 0, "how many machines may be under deletion at a time; 0 means no limit")
	flags.StringVar(&c.cloud, "machines-cloud", "", "`program` that is called as PROGRAM exists|delete PROVIDER-ID NAMESPACE/NAME, and prints yes or no for exists; not needed for ClusterAPI")
	flags.DurationVar(&c.drainTimeout, "machines-drain-timeout", 0, "how long a drain may take before it is given up, unless the machine sets a timeout; 0 means no limit")
	flags.BoolVar(&c.taints, "machines-taints", false, "keep the taints of machines on their nodes; leave it off beside another controller that does")
	flags.BoolVar(&c.volumes, "machines-wait-for-volumes", false, "wait until volumes are detached from the node")
}

func (c *machinesController) setup(ctx context.Context, mgr ctrl.Manager, s *shared) error {
	opts := machines.Options{Workers: s.workers, Taints: c.taints, Trace: s.metrics.Trace("lifecycle"), Policy: &lifecycle.Policy{DrainTimeout: c.drainTimeout, WaitForVolumes: c.volumes}}
	var err error
	if opts.Kind, err = machineKind("-machines-api", c.api); err != nil {
		return err
	}
	switch {
	case c.cloud != "":
		opts.Cloud = &machines.Program{Path: c.cloud}
	case c.api == machineAPI:
		return errors.New("-machines-cloud: name the program that accesses the instances, or leave the controller out of -controllers")
	}
	if c.most < 0 {
		return fmt.Errorf("-machines-at-a-time: %d is negative; use 0 for no limit", c.most)
	} else if c.most > 0 {
		opts.Limits = []drain.Limit{{Name: "machines-at-a-time", Max: lifecycle.IntOrString{Int: c.most}}}
	}
	store, err := s.store("lifecycle")
	if err != nil {
		return err
	}
	opts.Store = store
	return machines.SetupWithManager(ctx, mgr, opts)
}

// The APIs of machines, as flags name them.
const (
	machineAPI = "MachineAPI"
	clusterAPI = "ClusterAPI"
)

// machineKind returns the kind of machines for the value of a flag.
func machineKind(flag, api string) (schema.GroupVersionKind, error) {
	switch api {
	case machineAPI:
		return machines.Kind, nil
	case clusterAPI:
		return machines.KindClusterAPI, nil
	}
	return schema.GroupVersionKind{}, fmt.Errorf("%s: there is no %q; use %s or %s", flag, api, machineAPI, clusterAPI)
}
