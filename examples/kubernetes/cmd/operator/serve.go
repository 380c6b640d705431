package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/shard"
)

// serve runs the controllers until ctx ends, or the lease is lost.
func serve(ctx context.Context, s *settings) error {
	chosen, err := s.chosen()
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return err
	}
	config, err := s.config()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	mgr, err := s.manager(config)
	if err != nil {
		return err
	}
	direct, err := kube.Direct(mgr)
	if err != nil {
		return err
	}
	images, err := s.registry.client()
	if err != nil {
		return err
	}
	cached := func(store fairlead.Store) fairlead.Store { return kube.NewCached(store).ListFirst() } // this process leads for only one term, and then ends
	on, counts := mgr, kube.NewMetrics()
	if s.shards > 0 {
		member, err := s.member(direct, counts)
		if err != nil {
			return err
		}
		if err := mgr.Add(member); err != nil {
			return err
		}
		cached, on = member.Store, member.Manager(mgr)
		held := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "fairlead_shards_held", Help: "Shards whose objects this replica reconciles."}, func() float64 { return float64(len(member.Held())) })
		if err := metrics.Registry.Register(held); err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		defer metrics.Registry.Unregister(held)
	}
	common := &shared{
		registry:  images,
		catalogs:  &s.registry,
		workers:   s.workers,
		namespace: s.namespace,
		metrics:   counts,
		store: func(name string) (fairlead.Store, error) {
			store, err := kube.NewStore(direct, s.namespace, name)
			if err != nil {
				return nil, err
			}
			return cached(store), nil
		},
	}
	if err := metrics.Registry.Register(common.metrics); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	defer metrics.Registry.Unregister(common.metrics)
	for _, c := range chosen {
		if err := c.setup(ctx, on, common); err != nil {
			return fmt.Errorf("controller %s: %w", c.name(), err)
		}
	}
	return mgr.Start(ctx)
}

// member returns the member of this replica in the group that shares the
// objects.
func (s *settings) member(direct client.Client, counts *kube.Metrics) (*shard.Member, error) {
	return shard.New(shard.Options{
		Client: direct, Namespace: s.namespace, Name: leaseName, Shards: s.shards, Duration: s.leaseDuration, Retry: s.retryPeriod, Lost: counts.Keep,
	})
}

// leaseName is the name of the leader's Lease. With shards it is that of the
// group, so that no replica leads alone while others share the objects, and vice
// versa.
const leaseName = "fairlead"

// config returns the configuration of the cluster's client, with its rate
// limit.
func (s *settings) config() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules() // $KUBECONFIG, then ~/.kube/config
	rules.ExplicitPath = s.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("no cluster is configured: set -kubeconfig FILE or KUBECONFIG, or run in a pod with a service account")
	}
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	if s.qps > 0 {
		config.QPS, config.Burst = float32(s.qps), int(2*s.qps)+1
	}
	return rest.AddUserAgent(config, "fairlead"), nil
}

// manager returns the manager, with its health endpoints.
func (s *settings) manager(config *rest.Config) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Metrics:                       server.Options{BindAddress: s.metrics},
		HealthProbeBindAddress:        s.health,
		GracefulShutdownTimeout:       &s.grace,
		LeaderElection:                s.elect && s.shards == 0,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       s.namespace,
		LeaderElectionReleaseOnCancel: true, // nothing acts after the manager has stopped
		LeaseDuration:                 &s.leaseDuration,
		RenewDeadline:                 &s.renewDeadline,
		RetryPeriod:                   &s.retryPeriod,
	})
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("caches", func(r *http.Request) error {
		if !mgr.GetCache().WaitForCacheSync(r.Context()) {
			return fmt.Errorf("the caches are not filled yet")
		}
		return nil
	})
}
