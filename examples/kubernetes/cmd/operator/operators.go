package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/solver/olm"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// operatorsController installs operators from catalogs and keeps them up to
// date.
type operatorsController struct {
	images  string
	global  string
	across  bool
	cluster string
}

func (*operatorsController) name() string { return "operators" }

func (c *operatorsController) define(flags *flag.FlagSet) {
	flags.StringVar(&c.images, "operators-images", "", "`directory` with images of catalogs and bundles under their names; empty means that catalogs are ConfigMaps and bundles inline")
	flags.StringVar(&c.global, "operators-global-namespace", "", "`namespace` whose catalogs all namespaces see; empty for none")
	flags.BoolVar(&c.across, "operators-across", false, "keep operators of different namespaces out of each other's way, at the price of reading all namespaces in each pass")
	flags.StringVar(&c.cluster, "operators-cluster-version", "", "`version` of the cluster's distribution, for reports of whether operators hold up its next one; empty for none")
}

func (c *operatorsController) setup(_ context.Context, mgr ctrl.Manager, s *shared) error {
	store, err := s.store("install")
	if err != nil {
		return err
	}
	opts := operators.Options{
		BackendOptions: operators.BackendOptions{
			Resolve: &olm.Options{GlobalNamespace: c.global}, Across: c.across, ClusterVersion: c.cluster, ReportNamespace: s.namespace,
		},
		Store: store, Trace: s.metrics.Trace("install"), Metrics: operators.NewMetrics(), Workers: s.workers,
	}
	if c.images != "" {
		opts.Images = operators.Directory(c.images)
	}
	if err := metrics.Registry.Register(opts.Metrics); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return operators.SetupWithManager(mgr, opts)
}
