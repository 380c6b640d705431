package main

import (
	"context"
	"flag"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/extension"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	engine "github.com/fairlead/fairlead/solver/olm/extension"
	ctrl "sigs.k8s.io/controller-runtime"
)

// extensionsController installs cluster extensions and keeps them up to date.
type extensionsController struct {
	images   string
	together bool
	policy   engine.Policy
}

func (*extensionsController) name() string { return "extensions" }

func (c *extensionsController) define(flags *flag.FlagSet) {
	flags.StringVar(&c.images, "extensions-images", "", "`directory` with images of catalogs and bundles by name; empty means that they come from registries (-registry-cache), or else that catalogs are served and bundles inline")
	flags.BoolVar(&c.together, "extensions-together", false, "resolve all extensions jointly, so that one can meet the requirements of another")
	flags.IntVar(&c.policy.KeepRevisions, "extensions-keep", 0, "how many archived revisions of each are kept for rollbacks; 0 means 5")
	flags.StringVar((*string)(&c.policy.Certificates), "extensions-certificates", "", "`provider` of the certificates of webhooks, cert-manager or service-ca; empty means that bundles with webhooks are refused")
	flags.BoolVar(&c.policy.RequireAccount, "extensions-require-accounts", false, "install nothing for extensions that name no service account; without it whoever may write extensions can gain the rights of this operator")
	flags.BoolVar(&c.policy.Adopt, "extensions-adopt", false, "take over existing objects that belong to no one")
}

func (c *extensionsController) setup(_ context.Context, mgr ctrl.Manager, s *shared) error {
	store, err := s.store("extension")
	if err != nil {
		return err
	}
	everybody, _ := s.catalogs.services()
	opts := extension.Options{
		BackendOptions: extension.BackendOptions{Services: everybody, Together: c.together},
		Policy:         &c.policy, Store: store, Trace: s.metrics.Trace("extension"), Workers: s.workers,
	}
	switch {
	case c.images != "":
		opts.Images = operators.Directory(c.images)
	case s.registry != nil:
		opts.Images = s.registry
	}
	return extension.SetupWithManager(mgr, opts)
}
