package main

import (
	"context"
	"flag"
	"time"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	engine "github.com/fairlead/fairlead/lifecycle/drain"
	ctrl "sigs.k8s.io/controller-runtime"
)

// drainController takes nodes out of service as requests specify.
type drainController struct {
	policy engine.Policy
}

func (*drainController) name() string { return "drain" }

func (c *drainController) define(flags *flag.FlagSet) {
	flags.BoolVar(&c.policy.KeepUnmanaged, "drain-keep-unmanaged", false, "do not evict pods that no controller replaces: nodes with such pods are not drained")
	flags.BoolVar(&c.policy.KeepLocalStorage, "drain-keep-local-storage", false, "do not evict pods with an emptyDir: nodes with such pods are not drained")
	flags.DurationVar(&c.policy.MaxBackoff, "drain-max-backoff", time.Minute, "longest time until a refused eviction is retried")
}

func (c *drainController) setup(_ context.Context, mgr ctrl.Manager, s *shared) error {
	store, err := s.store("drain")
	if err != nil {
		return err
	}
	return drain.SetupWithManager(mgr, drain.Options{Policy: &c.policy, Store: store, Trace: s.metrics.Trace("drain"), Workers: s.workers})
}
