package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"

	"github.com/fairlead/fairlead/cvo/graph"
	engine "github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/situation"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/plan"
)

// planController carries out a plan for the whole cluster.
type planController struct {
	policy   string
	graph    string
	catalogs string
	every    time.Duration
}

func (*planController) name() string { return "plan" }

func (c *planController) define(flags *flag.FlagSet) {
	flags.StringVar(&c.policy, "plan-policy", "", "`file` with what a plan may do, as YAML: accept, windows, keepBudgets and so on; empty allows everything that loses no data")
	flags.StringVar(&c.graph, "plan-graph", "", "`file` with the update graph as returned by the update service; empty means the updates in the ClusterVersion, which reach one hop")
	flags.StringVar(&c.catalogs, "plan-catalogs", "", "the catalogs from which operators are updated, as `[MINOR=]PATH`, separated by commas; MINOR is that of the cluster")
	flags.DurationVar(&c.every, "plan-every", 0, "time between two reads of the whole cluster while steps are left; 0 means a minute")
}

func (c *planController) setup(ctx context.Context, mgr ctrl.Manager, s *shared) error {
	store, err := s.store("plan")
	if err != nil {
		return err
	}
	opts := plan.Options{Store: store, Every: c.every, Trace: s.metrics.Trace("plan")}
	if c.policy != "" {
		text, err := os.ReadFile(c.policy)
		opts.Policy = new(engine.Policy)
		if err == nil {
			err = yaml.UnmarshalStrict(text, opts.Policy)
		}
		if err != nil {
			return fmt.Errorf("-plan-policy: %w", err)
		}
	}
	if c.graph != "" {
		opts.Graph = c.read
	}
	if opts.Catalogs, _, err = situation.OpenCatalogs(ctx, split(c.catalogs)); err != nil { // they stay open as long as the process runs
		return fmt.Errorf("-plan-catalogs: %w", err)
	}
	return plan.SetupWithManager(mgr, opts)
}

// read reads the update graph, which may be replaced at any time.
func (c *planController) read(context.Context) (*graph.Graph, error) {
	text, err := os.ReadFile(c.graph)
	if err != nil {
		return nil, fmt.Errorf("-plan-graph: %w", err)
	}
	g, found := graph.Parse(text, &graph.Options{File: c.graph})
	if g == nil {
		return nil, fmt.Errorf("-plan-graph: %w", found.Err())
	}
	return g, nil
}
