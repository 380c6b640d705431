package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	"github.com/fairlead/fairlead/examples/kubernetes/promql"
	"github.com/fairlead/fairlead/examples/kubernetes/registry"
	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

// clusterVersionController takes the cluster from one release to the next.
type clusterVersionController struct {
	object       string
	image        string
	version      string
	releases     string
	trusted      string
	keys         string
	signedIn     string
	architecture string
	prometheus   string
	pod          string
	token, ca    string
	force        bool
	interval     time.Duration
	retry        time.Duration
	evaluate     time.Duration
}

func (*clusterVersionController) name() string { return "clusterversion" }

func (c *clusterVersionController) define(flags *flag.FlagSet) {
	flags.StringVar(&c.object, "clusterversion-name", "version", "`name` of the ClusterVersion to use")
	flags.StringVar(&c.image, "clusterversion-own-image", "", "pull `specification` of the release that this operator is part of")
	flags.StringVar(&c.version, "clusterversion-own-version", "", "`version` of that release")
	flags.StringVar(&c.releases, "clusterversion-releases", "/var/lib/fairlead/releases", "`directory` of releases, named algorithm/hex of the digest, or by version; empty means that they come from registries (-registry-cache)")
	flags.StringVar(&c.trusted, "clusterversion-trusted", "", "`digests` of the only releases to trust, separated by commas; empty trusts those signed as the own release specifies")
	flags.StringVar(&c.keys, "clusterversion-keys", "", "`file` with public keys in PEM format: only releases that one of them has signed with cosign are trusted; needs -registry-cache")
	flags.StringVar(&c.signedIn, "clusterversion-signed-in", "", "`repositories` that contain such signatures and that these may name, separated by commas")
	flags.StringVar(&c.architecture, "clusterversion-architecture", "", "`architecture` for queries of the update service, such as amd64; empty means no queries")
	flags.StringVar(&c.prometheus, "clusterversion-prometheus", "", "`URL` of the Prometheus that evaluates the risks of updates and has the cluster's alerts; empty means none")
	flags.StringVar(&c.pod, "clusterversion-pod", os.Getenv("POD_NAME"), "`name` of the pod that this program runs in, in -namespace: its image is that of the own release; the default is $POD_NAME")
	flags.StringVar(&c.token, "clusterversion-prometheus-token", "", "`file` with the bearer token for it")
	flags.StringVar(&c.ca, "clusterversion-prometheus-ca", "", "`file` with the certificate authorities for it")
	flags.BoolVar(&c.force, "clusterversion-force", false, "take over fields from other field managers")
	flags.DurationVar(&c.interval, "clusterversion-interval", 0, "time between two passes after a release was reached; 0 means three minutes")
	flags.DurationVar(&c.retry, "clusterversion-retry", 0, "time after a first failed attempt; 0 means ten seconds")
	flags.DurationVar(&c.evaluate, "clusterversion-evaluate", 0, "time for which the result of a risk's rule is valid; 0 means an hour")
}

func (c *clusterVersionController) setup(ctx context.Context, mgr ctrl.Manager, s *shared) error {
	store, err := s.store("cvo")
	if err != nil {
		return err
	}
	opts := &clusterversion.Options{
		Name:     c.object,
		Own:      cvo.Release{Image: c.image, Version: c.version},
		Source:   clusterversion.Source(clusterversion.Directory(c.releases)),
		Force:    c.force,
		Policy:   &cvo.Policy{Interval: c.interval, Retry: c.retry, Capabilities: cvo.KnownCapabilities()},
		Store:    store,
		Trace:    s.metrics.Trace("cvo"),
		Registry: metrics.Registry,
	}
	if c.releases == "" && s.registry != nil {
		opts.Source = clusterversion.SourceFunc(s.registry.OpenRelease)
	}
	if opts.Verifier, err = c.verifier(opts.Source, s.registry); err != nil {
		return err
	}
	if opts.Updates, opts.Alerts, err = c.updates(); err != nil {
		return err
	}
	if c.pod != "" {
		opts.Pod = &clusterversion.Pod{Namespace: s.namespace, Name: c.pod}
	}
	return clusterversion.SetupWithManager(mgr, opts)
}

// verifier returns a verifier that trusts the digests in the flags, or else
// releases signed by the keys in the flags, or else those signed as the payload of
// the own release specifies. If that cannot be determined, no release is trusted,
// and each refusal says why; the operator runs anyway.
func (c *clusterVersionController) verifier(source clusterversion.Source, images *registry.Client) (cvo.Verifier, error) {
	if digests := split(c.trusted); len(digests) > 0 {
		return cvo.Digests(digests), nil
	}
	if c.keys != "" {
		if images == nil {
			return nil, errors.New("-clusterversion-keys needs -registry-cache: the signatures are in registries")
		}
		keys, err := os.ReadFile(c.keys)
		if err != nil {
			return nil, fmt.Errorf("-clusterversion-keys: %w", err)
		}
		v, err := signature.NewKeys(keys, split(c.signedIn), images)
		if err != nil {
			return nil, fmt.Errorf("-clusterversion-keys, -clusterversion-signed-in: %w", err)
		}
		return v, nil
	}
	return &own{read: func(ctx context.Context) (cvo.Verifier, error) { return c.signed(ctx, source) }}, nil
}

// split splits a list at commas; empty elements are left out.
func split(list string) []string {
	var out []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// signed reads keyrings and stores from the payload of the own release.
func (c *clusterVersionController) signed(ctx context.Context, source clusterversion.Source) (cvo.Verifier, error) {
	files, err := source.Open(ctx, cvo.Release{Image: c.image, Version: c.version})
	if err != nil {
		return nil, err
	}
	p, err := payload.Load(files, &payload.Options{ReleaseImage: c.image})
	if err != nil {
		return nil, err
	}
	trust, found, err := signature.ReadTrust(p.Manifests, nil)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("the payload of %s does not define how releases are verified: it has no ConfigMap with the annotation %s", c.image, signature.Annotation)
	}
	return signature.New(trust.Keyrings, trust.Stores, nil)
}

// own is the verifier that the operator's own release specifies. It is read when
// needed, and retried until that succeeds: a registry may be down for a while.
type own struct {
	read func(context.Context) (cvo.Verifier, error)
	mu   sync.Mutex
	told cvo.Verifier // nil until it was read
}

// Verify implements [cvo.Verifier]. As long as no release can be verified, the
// error says why.
func (o *own) Verify(ctx context.Context, digest string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told == nil {
		told, err := o.read(ctx)
		if err != nil {
			return fmt.Errorf("unable to verify %q: %w; fix that, list the digest in -clusterversion-trusted, or set -clusterversion-keys", digest, err)
		}
		o.told = told
	}
	return o.told.Verify(ctx, digest)
}

// updates returns the configuration of the update service, and the source of
// alerts; nil if there is none.
func (c *clusterVersionController) updates() (*clusterversion.Updates, clusterversion.Alerts, error) {
	var out *clusterversion.Updates
	if c.architecture != "" {
		out = &clusterversion.Updates{Architecture: c.architecture, Evaluation: &graph.EvaluationPolicy{Every: c.evaluate}}
	}
	if c.prometheus == "" {
		return out, nil, nil
	}
	by, err := promql.New(c.prometheus, &promql.Options{TokenFile: c.token, CAFile: c.ca})
	if err != nil {
		return nil, nil, fmt.Errorf("-clusterversion-prometheus: %w", err)
	}
	if out != nil {
		out.Evaluator = by
	}
	return out, by, nil
}
