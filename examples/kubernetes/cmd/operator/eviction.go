package main

import (
	"context"
	"flag"
	engine "github.com/fairlead/fairlead/taints/eviction"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/eviction"
	ctrl "sigs.k8s.io/controller-runtime"
)

// evictionController evicts pods from nodes with NoExecute taints.
type evictionController struct {
	lifecycle bool
	budgets   bool
}

func (*evictionController) name() string { return "eviction" }

func (c *evictionController) define(flags *flag.FlagSet) {
	flags.BoolVar(&c.lifecycle, "eviction-lifecycle", false, "also taint nodes by their conditions, as the node lifecycle controller does")
	flags.BoolVar(&c.budgets, "eviction-budgets", false, "evict only as disruption budgets allow, at the latest ten minutes after the deadline")
}

func (c *evictionController) setup(ctx context.Context, mgr ctrl.Manager, s *shared) error {
	policy := &engine.Policy{RespectBudgets: c.budgets}
	if c.lifecycle {
		policy.NodeLifecycle = &engine.NodeLifecycle{}
	}
	store, err := s.store("taints")
	if err != nil {
		return err
	}
	return eviction.SetupWithManager(ctx, mgr, eviction.Options{Policy: policy, Store: store, Trace: s.metrics.Trace("taints"), Workers: s.workers})
}
