package clusterversion

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The objects that list the required acknowledgements, the given ones, and the
// features of a cluster.
var (
	adminGates  = client.ObjectKey{Namespace: "openshift-config-managed", Name: "admin-gates"}
	adminAcks   = client.ObjectKey{Namespace: "openshift-config", Name: "admin-acks"}
	kindFeature = schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: "FeatureGate"}
	kindConfig  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// How often gates are read: less often than passes are made while a release is
// applied, because gates are changed manually, and seldom while nothing waits for
// them.
const (
	gatesEvery  = 10 * time.Second
	gatesAtRest = time.Minute
)

// gates keeps what was read last.
type gates struct {
	mu      sync.Mutex
	at      time.Time
	version string // of the release to which the feature gates belong
	world   cvo.World
}

// tellGates adds what administrators must acknowledge, and the feature gates, as
// last read.
func (b *Backend) tellGates(ctx context.Context, w *cvo.World) error {
	g, now := &b.gates, b.opts.Clock.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	every := gatesEvery
	if settled(w.Cluster) {
		every = gatesAtRest
	}
	version := w.Cluster.Status.Desired.Version
	if since := now.Sub(g.at); g.at.IsZero() || since < 0 || since >= every || g.version != version {
		read := cvo.World{Cluster: w.Cluster}
		if err := b.readGates(ctx, &read); err != nil {
			return err
		}
		g.at, g.version, g.world = now, version, read
	}
	w.AdminGates, w.FeatureSet, w.Gates = g.world.AdminGates, g.world.FeatureSet, g.world.Gates
	return nil
}

// readGates reads the gates. A cluster that has neither object has no gates; if
// the objects cannot be read, that is reported, because there may be gates.
func (b *Backend) readGates(ctx context.Context, w *cvo.World) error {
	gates, err := b.config(ctx, adminGates)
	acks, failed := b.config(ctx, adminAcks)
	switch {
	case err != nil:
		w.AdminGates = &cvo.AdminGates{Error: err.Error()}
	case failed != nil:
		w.AdminGates = &cvo.AdminGates{Error: failed.Error()}
	case gates != nil:
		w.AdminGates = &cvo.AdminGates{Gates: gates, Acks: acks}
	}
	u := kube.Stub(kindFeature, "", "cluster")
	err = b.client.Get(ctx, client.ObjectKeyFromObject(u), u)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("FeatureGate cluster: %w", err)
	}
	var g cvo.FeatureGate
	if err := kube.Decode(u, &g); err != nil {
		return err
	}
	version := w.Cluster.Status.Desired.Version
	if slices.ContainsFunc(g.Status.FeatureGates, func(d cvo.FeatureGateDetails) bool { return d.Version == version }) {
		w.FeatureSet, w.Gates = &g.Spec.FeatureSet, g.Enabled(version)
	}
	return nil
}

// config returns the data of a ConfigMap; nil if there is none.
func (b *Backend) config(ctx context.Context, key client.ObjectKey) (map[string]string, error) {
	u := kube.Stub(kindConfig, key.Namespace, key.Name)
	err := b.client.Get(ctx, key, u)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s: %w", key, err)
	}
	data, _, err := unstructured.NestedStringMap(u.Object, "data")
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s: %w", key, err)
	}
	if data == nil {
		data = map[string]string{}
	}
	return data, nil
}
