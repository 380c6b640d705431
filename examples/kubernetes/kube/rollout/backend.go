package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Backend adapts a cluster to package cvo/rollout. Its methods may be called from
// several goroutines, for different pools. Pools and nodes are read from the
// server; if the server refuses a write, the error is a [*fairlead.RefusedError].
type Backend struct {
	Client client.Client // reads and writes, without a cache
	// Last is the name of the node that this process runs on, which is begun last;
	// empty if unknown.
	Last string
}

// Observe implements rollout.Backend. A pool that is gone has no nodes.
func (b *Backend) Observe(ctx context.Context, pool string) (*rollout.World, error) {
	w := &rollout.World{Last: b.Last}
	w.Pool.Name = pool
	pools, err := b.pools(ctx)
	if err != nil {
		return nil, err
	}
	own := find(pools, pool)
	if own == nil {
		return w, nil
	}
	if w.Build, err = b.build(ctx, own.Spec.Configuration.Name); err != nil {
		return nil, err
	}
	if w.Build != nil && w.Build.State == rollout.BuildSucceeded {
		own.Spec.Configuration.Image = w.Build.Image
	}
	if own.Status.Configuration.Name == own.Spec.Configuration.Name {
		own.Status.Configuration.Image = own.Spec.Configuration.Image // the status has no field for it
	}
	w.Pool = *own
	var all corev1.NodeList
	if err := b.Client.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	peer, first := peersOf(pool)
	for i := range all.Items {
		n := kube.Node(&all.Items[i])
		is, err := rollout.PrimaryPool(pools, &n)
		switch {
		case err != nil:
			if slices.ContainsFunc(err.(*rollout.MembershipError).Pools, func(name string) bool { return name == pool }) {
				return nil, err
			}
		case is != nil && is.Name == pool:
			w.Nodes = append(w.Nodes, n)
		case is != nil && is.Name == peer:
			w.Peers = append(w.Peers, n)
		}
	}
	if first {
		w.PeerPool = find(pools, peer)
	}
	return w, nil
}

// Apply implements rollout.Backend.
func (b *Backend) Apply(ctx context.Context, pool string, action rollout.Action) error {
	switch a := action.(type) {
	case rollout.Begin:
		return b.change(ctx, a.Node, a.Revision, func(n *corev1.Node) {
			annotate(n, rollout.AnnotationDesired, a.Configuration.Name)
			annotate(n, rollout.AnnotationDesiredImage, a.Configuration.Image)
			if s := n.Annotations[rollout.AnnotationState]; s == rollout.StateDegraded || s == rollout.StateUnreconcilable {
				annotate(n, rollout.AnnotationState, rollout.StateDone)
			}
			waits(n, true)
		})
	case rollout.Mark:
		return b.change(ctx, a.Node, a.Revision, func(n *corev1.Node) { waits(n, a.Waits) })
	case rollout.Cordon:
		return b.change(ctx, a.Node, a.Revision, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	case rollout.Drain:
		return b.change(ctx, a.Node, a.Revision, func(n *corev1.Node) { annotate(n, rollout.AnnotationDesiredDrain, a.Wish) })
	case rollout.Update:
		return b.change(ctx, a.Node, a.Revision, func(n *corev1.Node) { annotate(n, rollout.AnnotationState, rollout.StateWorking) })
	case rollout.Uncordon:
		if err := b.dropRequest(ctx, a.Node); err != nil { // otherwise it would cordon the node again
			return nodes.Refused(err)
		}
		return b.change(ctx, a.Node, a.Revision, func(n *corev1.Node) {
			n.Spec.Unschedulable = false
			annotate(n, rollout.AnnotationDesiredDrain, a.Wish)
			annotate(n, rollout.AnnotationLastDrain, a.Wish)
			waits(n, false)
		})
	case rollout.Report:
		return nodes.Refused(b.report(ctx, a))
	}
	return fmt.Errorf("kube/rollout: actions of type %T are not supported: the engine is newer than its backend", action)
}

func annotate(n *corev1.Node, key, value string) {
	if value == "" {
		delete(n.Annotations, key)
		return
	}
	if n.Annotations == nil {
		n.Annotations = map[string]string{}
	}
	n.Annotations[key] = value
}

// waits adds the taint of waiting nodes to a node, or removes it.
func waits(n *corev1.Node, is bool) {
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == rollout.TaintUpdate })
	if is {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: rollout.TaintUpdate, Effect: corev1.TaintEffectPreferNoSchedule})
	}
}

// change changes a node at a revision, unless it already is as desired.
func (b *Backend) change(ctx context.Context, name, revision string, edit func(*corev1.Node)) error {
	var n corev1.Node
	if err := b.Client.Get(ctx, client.ObjectKey{Name: name}, &n); err != nil {
		return nodes.Refused(err)
	}
	before := n.DeepCopy()
	edit(&n)
	switch {
	case n.Spec.Unschedulable == before.Spec.Unschedulable && slices.Equal(n.Spec.Taints, before.Spec.Taints) && maps.Equal(n.Annotations, before.Annotations):
		return nil
	case before.ResourceVersion != revision:
		return &fairlead.RefusedError{Code: 409, Message: "node " + name + " has changed since it was observed"}
	}
	return nodes.Refused(b.Client.Patch(ctx, &n, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// report writes the status of a pool at a revision. Fields of others stay.
func (b *Backend) report(ctx context.Context, a rollout.Report) error {
	u := kube.Stub(Kind, "", a.Pool)
	if err := b.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return err
	}
	status := map[string]any{
		"machineCount": a.Status.MachineCount, "updatedMachineCount": a.Status.UpdatedMachineCount, "readyMachineCount": a.Status.ReadyMachineCount,
		"unavailableMachineCount": a.Status.UnavailableMachineCount, "degradedMachineCount": a.Status.DegradedMachineCount,
		"observedGeneration": a.Status.ObservedGeneration, "conditions": a.Status.Conditions,
	}
	if name := a.Status.Configuration.Name; name != "" {
		configuration := map[string]any{"name": name}
		if asked, _, _ := unstructured.NestedMap(u.Object, "spec", "configuration"); asked["name"] == name {
			configuration = asked // including its sources
		}
		status["configuration"] = configuration
	}
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": a.Revision}, "status": status})
	if err != nil {
		return err
	}
	return b.Client.Status().Patch(ctx, u, client.RawPatch(types.MergePatchType, data))
}
