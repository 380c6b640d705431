package clusterversion

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The kinds that define what a cluster should run, and the state of its
// operators.
var (
	kindVersion  = schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: "ClusterVersion"}
	kindOperator = schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: "ClusterOperator"}
)

// Backend adapts an API server to the engine cvo: it is a [cvo.BatchBackend].
// Its methods may be called from several goroutines.
type Backend struct {
	client client.Client
	opts   Options

	applied  applied
	deleting deleting
	releases releases
	updates  updates
	alerts   alerts
	gates    gates
	runs     runs
	seen     seen
	held     held
	wrote    atomic.Pointer[wrote]
}

var _ cvo.BatchBackend = (*Backend)(nil)

// seen is the result of the last observation, the base for writing the status
// and for metrics.
type seen struct {
	mu        sync.Mutex
	object    *unstructured.Unstructured // the ClusterVersion; nil if there is none
	version   *cvo.ClusterVersion        // the same, decoded
	operators []cvo.ClusterOperator
}

// New returns the backend for the API server of the client. The client must
// read ClusterVersions from the server and not from a cache, as a manager's
// does by default. Close it when it is no longer needed.
func New(c client.Client, opts *Options) (*Backend, error) {
	o, err := opts.withDefaults(c)
	if err != nil {
		return nil, err
	}
	b := &Backend{client: c, opts: o}
	b.releases.begin()
	return b, nil
}

// Close ends background work, and waits for it.
func (b *Backend) Close() { b.releases.end() }

// Observe implements [cvo.Backend]. Clusters with a name other than
// Options.Name have no ClusterVersion.
func (b *Backend) Observe(ctx context.Context, name string) (*cvo.World, error) {
	if name != b.opts.Name {
		return &cvo.World{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, b.opts.Timeout)
	defer cancel()
	object, version, err := b.version(ctx)
	if err != nil || version == nil {
		b.seen.set(nil, nil, nil)
		return &cvo.World{}, err
	}
	b.wrote.Load().tell(version)
	w := &cvo.World{Cluster: version}
	if w.Own, err = b.own(ctx); err != nil {
		return nil, err
	}
	if w.Operators, err = b.operators(ctx); err != nil {
		return nil, err
	}
	w.Retrieved = b.releases.results()
	if w.Workloads, err = b.workloads(ctx); err != nil {
		return nil, err
	}
	if w.Deleting, err = b.removals(ctx); err != nil {
		return nil, err
	}
	if err := b.tellGates(ctx, w); err != nil {
		return nil, err
	}
	b.tellUpdates(w)
	b.tellAlerts(ctx, w)
	b.seen.set(object, version, w.Operators)
	return w, nil
}

func (s *seen) set(object *unstructured.Unstructured, version *cvo.ClusterVersion, operators []cvo.ClusterOperator) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.object, s.version, s.operators = object, version, operators
}

// version returns the ClusterVersion; nil if there is none. It is read unless the
// held copy is current.
func (b *Backend) version(ctx context.Context) (*unstructured.Unstructured, *cvo.ClusterVersion, error) {
	cached := b.cached(ctx)
	u := b.held.current(cached)
	if u != nil {
		var v cvo.ClusterVersion
		return u, &v, kube.Decode(u, &v)
	}
	b.held.set(nil, false, "")
	u = kube.Stub(kindVersion, "", b.opts.Name)
	err := b.client.Get(ctx, client.ObjectKeyFromObject(u), u)
	switch {
	case meta.IsNoMatchError(err):
		return nil, nil, fmt.Errorf("the server does not have the kind ClusterVersion: apply config/crd first: %w", err)
	case apierrors.IsNotFound(err):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("ClusterVersion %s: %w", b.opts.Name, err)
	}
	var v cvo.ClusterVersion
	if err := kube.Decode(u, &v); err != nil {
		return nil, nil, err
	}
	b.held.set(u, settled(&v), cached)
	return u, &v, nil
}

// operators reads the reports of all operators, sorted by name.
func (b *Backend) operators(ctx context.Context) ([]cvo.ClusterOperator, error) {
	list, err := b.list(ctx, kindOperator, nil)
	if err != nil {
		return nil, err
	}
	var out []cvo.ClusterOperator
	for i := range list {
		var o cvo.ClusterOperator
		if err := kube.Decode(&list[i], &o); err != nil {
			o = cvo.ClusterOperator{ObjectMeta: cvo.ObjectMeta{Name: list[i].GetName(), UID: string(list[i].GetUID())}}
			o.Status.Conditions = []cvo.Condition{{Type: "Available", Status: cvo.Unknown, Reason: "Unreadable", Message: err.Error()}}
		}
		out = append(out, o)
	}
	return out, nil
}

// list reads all objects of a kind that have the labels from Options.Reports,
// sorted by namespace and name.
func (b *Backend) list(ctx context.Context, kind schema.GroupVersionKind, labels client.MatchingLabels) ([]unstructured.Unstructured, error) {
	list := kube.ListOf(kind)
	if err := b.opts.Reports.List(ctx, list, labels); err != nil {
		if meta.IsNoMatchError(err) {
			err = fmt.Errorf("the server does not have this kind: apply config/crd first: %w", err)
		}
		return nil, fmt.Errorf("list of %s: %w", kind.Kind, err)
	}
	slices.SortFunc(list.Items, func(x, y unstructured.Unstructured) int {
		return cmp.Or(strings.Compare(x.GetNamespace(), y.GetNamespace()), strings.Compare(x.GetName(), y.GetName()))
	})
	return list.Items, nil
}
