package main

import (
	"context"
	"flag"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	engine "github.com/fairlead/fairlead/lifecycle/drain"
	ctrl "sigs.k8s.io/controller-runtime"
)

// drainController takes nodes out of service as requests ask for.
type drainController struct {
	policy engine.Policy
}

func (*drainController) name() string { return "drain" }

func (c *drainController) define(flags *flag.FlagSet) {
	flags.BoolVar(&c.policy.KeepUnmanaged, "drain-keep-unmanaged", false, "do not evict pods that no controller replaces: such a node is not drained")
	flags.BoolVar(&c.policy.KeepLocalStorage, "drain-keep-local-storage", false, "do not evict pods with an emptyDir: such a node is not drained")
	flags.DurationVar(&c.policy.MaxBackoff, "drain-max-backoff", time.Minute, "how long it is at most until an eviction that was refused is asked for again")
}

func (c *drainController) setup(_ context.Context, mgr ctrl.Manager, s *shared) error {
	store, err := s.store("drain")
	if err != nil {
		return err
	}
	return drain.SetupWithManager(mgr, drain.Options{Policy: &c.policy, Store: store, Trace: s.metrics.Trace("drain"), Workers: s.workers})
}
