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

// NodeIndex is the field by which the cached pods must be indexed: the name of
// their node. See [IndexPods].
const NodeIndex = "spec.nodeName"

// leaseNamespace is where the agents of nodes renew their leases.
const leaseNamespace = "kube-node-lease"

// Backend is a cluster, as package taints needs it: a [engine.ZoneBackend] and
// a [engine.BatchBackend]. Its methods may be called from several goroutines.
//
//  1. It observes through Reader, which may be a cache: an eviction decided on
//     what is old meets its precondition, the UID, and does nothing.
//  2. An eviction is two requests: the condition DisruptionTarget, then the
//     deletion; one where the condition is there already. Both name the UID. With
//     budgets the second goes to the eviction subresource.
//  3. Taints and conditions of nodes are written with the resourceVersion they
//     were read at by Reader, and read from the server when that was old. That a node
//     is silent is not concluded from an old lease: that is read from the server.
type Backend struct {
	// Client writes, and reads what a write needs to be decided on again. It must
	// not read from a cache.
	Client client.Client
	// Reader observes. Its pods must be indexed by NodeIndex.
	Reader client.Reader
	// Lifecycle is whether the policy has one; leases are observed for it alone.
	Lifecycle bool
	// Budgets is whether the policy respects disruption budgets; they are observed
	// for it alone.
	Budgets bool
	// Parallel is how many evictions of one decision are under way at a time.
	// Zero means 16.
	Parallel int
}

// IndexPods makes a cache able to list the pods of a node.
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

// lease fills in when the node renewed its lease.
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
	return fmt.Errorf("kube/eviction: there is no action %T", action)
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

// gone says that an object is not there, or another one of its name is: then
// there is nothing to do.
func gone(err error) bool { return apierrors.IsNotFound(err) || kube.IsAnother(err) }
