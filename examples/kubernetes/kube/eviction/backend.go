package eviction

import (
	"context"
	"fmt"
	"github.com/fairlead/fairlead"
	engine "github.com/fairlead/fairlead/taints/eviction"
	"sync"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NodeIndex is the field by which cached pods must be indexed: the name of
// their node. See [IndexPods].
const NodeIndex = "spec.nodeName"

// leaseNamespace is the namespace where kubelets renew the leases of their
// nodes.
const leaseNamespace = "kube-node-lease"

// Backend adapts a cluster to package taints: it is an [engine.ZoneBackend]
// and an [engine.BatchBackend]. Its methods may be called from several
// goroutines.
//
//  1. It observes through Reader, which may be a cache: an eviction based on
//     stale data fails its precondition, the UID, and does nothing.
//  2. An eviction is two requests: the condition DisruptionTarget, then the
//     deletion; only the latter if the condition is already set. Both name the
//     UID. With budgets the second goes to the eviction subresource.
//  3. Taints and conditions of nodes are written with the resourceVersion that Reader
//     returned; if that was stale, the node is read from the server. Before a node
//     counts as silent, its lease is read from the server.
type Backend struct {
	// Client writes, and reads what is needed to decide about a write again. It
	// must not read from a cache.
	Client client.Client
	// Reader observes. Its pods must be indexed by NodeIndex.
	Reader client.Reader
	// Lifecycle is whether the policy has a NodeLifecycle; leases are observed
	// only for it.
	Lifecycle bool
	// Budgets is whether the policy respects disruption budgets; they are observed
	// only then.
	Budgets bool
	// Parallel limits the concurrent evictions of one decision. Zero means
	// 16.
	Parallel int
}

// IndexPods adds the index with which a cache can list the pods of a node.
func IndexPods(ctx context.Context, indexer client.FieldIndexer) error {
	return indexer.IndexField(ctx, &corev1.Pod{}, NodeIndex, func(o client.Object) []string {
		if name := o.(*corev1.Pod).Spec.NodeName; name != "" {
			return []string{name}
		}
		return nil
	})
}

// Observe implements engine.Backend.
func (b *Backend) Observe(ctx context.Context, node string) (*engine.World, error) {
	w := &engine.World{Name: node}
	var n corev1.Node
	switch err := b.Reader.Get(ctx, client.ObjectKey{Name: node}, &n); {
	case err == nil:
		converted := kube.Node(&n)
		w.Node = &converted
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("node %s: get: %w", node, err)
	}
	var pods corev1.PodList
	if err := b.Reader.List(ctx, &pods, client.MatchingFields{NodeIndex: node}); err != nil {
		return nil, fmt.Errorf("node %s: list its pods: %w", node, err)
	}
	for i := range pods.Items {
		w.Pods = append(w.Pods, kube.Pod(&pods.Items[i]))
	}
	if b.Budgets && len(w.Pods) > 0 {
		var budgets policyv1.PodDisruptionBudgetList
		if err := b.Reader.List(ctx, &budgets); err != nil {
			return nil, fmt.Errorf("node %s: list disruption budgets: %w", node, err)
		}
		for i := range budgets.Items {
			w.Budgets = append(w.Budgets, kube.Budget(&budgets.Items[i]))
		}
	}
	return w, b.lease(ctx, b.Reader, w)
}

// lease fills in when the node last renewed its lease.
func (b *Backend) lease(ctx context.Context, from client.Reader, w *engine.World) error {
	if !b.Lifecycle {
		return nil
	}
	var lease coordinationv1.Lease
	err := from.Get(ctx, client.ObjectKey{Namespace: leaseNamespace, Name: w.Name}, &lease)
	switch {
	case err == nil && lease.Spec.RenewTime != nil:
		w.LeaseRenewed = lease.Spec.RenewTime.Time
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("node %s: get its lease: %w", w.Name, err)
	}
	return nil
}

// ObserveZones implements engine.ZoneBackend.
func (b *Backend) ObserveZones(ctx context.Context) (*engine.ZoneWorld, error) {
	var nodes corev1.NodeList
	if err := b.Reader.List(ctx, &nodes); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	f := &engine.ZoneWorld{Nodes: make([]fairlead.Node, 0, len(nodes.Items))}
	for i := range nodes.Items {
		f.Nodes = append(f.Nodes, kube.Node(&nodes.Items[i]))
	}
	return f, nil
}

// Apply implements engine.Backend.
func (b *Backend) Apply(ctx context.Context, _ string, action engine.Action) error {
	switch a := action.(type) {
	case engine.Evict:
		return b.evict(ctx, a)
	case engine.MarkNotReady:
		return b.markNotReady(ctx, a)
	case engine.EditTaints:
		return b.editTaints(ctx, a)
	case engine.SetConditions:
		return b.setConditions(ctx, a)
	}
	return fmt.Errorf("kube/eviction: actions of type %T are not supported", action)
}

// ApplyAll implements engine.BatchBackend.
func (b *Backend) ApplyAll(ctx context.Context, node string, actions []engine.Action) []error {
	most := b.Parallel
	if most <= 0 {
		most = 16
	}
	errs := make([]error, len(actions))
	places := make(chan struct{}, most)
	var all sync.WaitGroup
	for i, a := range actions {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			errs[i] = b.Apply(ctx, node, a)
		})
	}
	all.Wait()
	return errs
}

// gone reports whether an error means that the object is gone, or was
// replaced by another one with its name: then there is nothing to do.
func gone(err error) bool { return apierrors.IsNotFound(err) || kube.IsAnother(err) }
