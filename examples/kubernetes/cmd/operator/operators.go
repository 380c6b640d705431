package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/install"
)

// operatorsController installs operators from catalogs and keeps them up to
// date.
type operatorsController struct {
	images  string
	global  string
	across  bool
	cluster string
	rules   olm.Options // for resolution
	// lifetime is that of certificates; zero means the engine's default.
	lifetime time.Duration
	// patience limits the time of a plan; likewise.
	patience time.Duration
	// accounts requires service accounts, except in unlimited namespaces.
	accounts  bool
	unlimited string
	// hosts and size limit the catalog sources of tenants.
	hosts string
	size  int64
}

func (*operatorsController) name() string { return "operators" }

func (c *operatorsController) define(flags *flag.FlagSet) {
	flags.StringVar(&c.images, "operators-images", "", "`directory` with images of catalogs and bundles by name; empty means that they come from registries (-registry-cache), or else that catalogs are ConfigMaps and bundles inline")
	flags.StringVar(&c.global, "operators-global-namespace", "", "`namespace` whose catalogs are visible in all namespaces; empty means none")
	flags.BoolVar(&c.across, "operators-across", false, "prevent conflicts between operators of different namespaces, at the cost of reading all namespaces in each pass")
	flags.StringVar(&c.cluster, "operators-cluster-version", "", "`version` of the cluster's distribution, for reports on whether operators block its next one; empty means none")
	flags.Func("operators-prefer", "`objective` that takes precedence over the order of preference: fewest-changes, fewest-updates or fewest-additions; may be given several times", func(word string) error {
		c.rules.Objectives = append(c.rules.Objectives, olm.Objective(word))
		return nil
	})
	flags.BoolVar(&c.rules.NoDowngrades, "operators-no-downgrades", false, "refuse versions below the installed one")
	flags.BoolVar(&c.rules.StayOnChannel, "operators-stay-on-channel", false, "refuse channels that do not list the installed version, unless a subscription names one")
	flags.DurationVar(&c.lifetime, "operators-certificate-lifetime", 0, "`lifetime` of the certificates of webhooks and API services, which are renewed after two thirds of it; 0 means two years")
	flags.BoolVar(&c.accounts, "operators-require-accounts", false, "install nothing in namespaces whose operator group names no service account, except those of -operators-unlimited; without it whoever may write operator groups or subscriptions can gain the rights of this operator")
	flags.StringVar(&c.unlimited, "operators-unlimited", "", "`namespaces` in which operators are installed with the rights of this operator in spite of -operators-require-accounts, separated by commas; the others get images only from registries with public addresses, without credentials")
	flags.StringVar(&c.hosts, "operators-catalog-hosts", "", "`hosts` that spec.address of catalog sources may name, separated by commas, beside the services of the source's own namespace; * means any. Sources of -operators-global-namespace may name any")
	flags.Int64Var(&c.size, "operators-catalog-size", 0, "most `bytes` that the catalogs of one namespace may take, except those of -operators-global-namespace; 0 means 256 MiB")
	flags.DurationVar(&c.patience, "operators-plan-timeout", 0, "`duration` after which an install plan fails; 0 means ten minutes, a negative one no limit")
}

func (c *operatorsController) setup(_ context.Context, mgr ctrl.Manager, s *shared) error {
	c.rules.GlobalNamespace = c.global
	store, err := s.store("install")
	if err != nil {
		return err
	}
	everybody, tenants := s.catalogs.services()
	opts := operators.Options{
		BackendOptions: operators.BackendOptions{
			Services: everybody, Tenants: operators.Tenants{Services: tenants, Hosts: listed(c.hosts), MaxSize: c.size},
			Resolve: &c.rules, Across: c.across, ClusterVersion: c.cluster, ReportNamespace: s.namespace,
		},
		Policy: &install.Policy{
			CertificateLifetime: c.lifetime, PlanTimeout: c.patience, RequireAccount: c.accounts,
			Unlimited: listed(c.unlimited),
		},
		Store: store, Trace: s.metrics.Trace("install"), Metrics: operators.NewMetrics(), Workers: s.workers,
	}
	switch {
	case c.images != "":
		opts.Images = operators.Directory(c.images)
	case s.registry != nil:
		opts.Images = s.registry
		if c.accounts {
			of, err := s.catalogs.tenants()
			if err != nil {
				return err
			}
			opts.Tenants.Images = of
		}
	}
	if err := metrics.Registry.Register(opts.Metrics); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return operators.SetupWithManager(mgr, opts)
}

// listed returns the words of a list separated by commas.
func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}
