package eviction

import (
	"context"
	"fmt"
	"github.com/fairlead/fairlead"
	engine "github.com/fairlead/fairlead/taints/eviction"
	"slices"

	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// editTaints makes the single write for an EditTaints.
func (b *Backend) editTaints(ctx context.Context, a engine.EditTaints) error {
	return b.change(ctx, a.Node, a.UID, "change its taints", false, func(_ context.Context, n *corev1.Node) (bool, error) {
		before := n.Spec.Taints
		n.Spec.Taints = edited(before, a)
		return !slices.EqualFunc(before, n.Spec.Taints, func(x, y corev1.Taint) bool {
			return x.MatchTaint(&y) && x.Value == y.Value
		}), nil
	})
}

// edited returns the desired taints.
func edited(now []corev1.Taint, a engine.EditTaints) []corev1.Taint {
	next := slices.Clone(now)
	for _, t := range kube.FromTaints(a.Remove) {
		next = slices.DeleteFunc(next, func(o corev1.Taint) bool { return o.MatchTaint(&t) })
	}
	for _, t := range kube.FromTaints(a.Add) {
		i := slices.IndexFunc(next, func(o corev1.Taint) bool { return o.MatchTaint(&t) })
		switch {
		case i < 0:
			next = append(next, t)
		case next[i].Value != t.Value:
			next[i] = t
		}
	}
	return next
}

// setConditions sets the conditions of a silent node to Unknown, unless it has
// reported.
func (b *Backend) setConditions(ctx context.Context, a engine.SetConditions) error {
	return b.change(ctx, a.Node, a.UID, "set its conditions", true, func(ctx context.Context, n *corev1.Node) (bool, error) {
		converted := kube.Node(n)
		w := &engine.World{Name: a.Node, Node: &converted}
		if err := b.lease(ctx, b.Client, w); err != nil {
			return false, err
		}
		if !w.Heartbeat().Equal(a.Heartbeat) {
			return false, nil // it has reported since
		}
		for _, c := range a.Conditions {
			setCondition(n, c)
		}
		return true, nil
	})
}

func setCondition(n *corev1.Node, c fairlead.NodeCondition) {
	next := corev1.NodeCondition{
		Type: corev1.NodeConditionType(c.Type), Status: corev1.ConditionStatus(c.Status),
		LastHeartbeatTime: metav1.NewTime(c.LastHeartbeatTime), LastTransitionTime: metav1.NewTime(c.LastTransitionTime),
		Reason: c.Reason, Message: c.Message,
	}
	i := slices.IndexFunc(n.Status.Conditions, func(o corev1.NodeCondition) bool { return o.Type == next.Type })
	if i < 0 {
		n.Status.Conditions = append(n.Status.Conditions, next)
		return
	}
	n.Status.Conditions[i] = next
}

// change reads a node, lets edit change it, and writes the difference to the node or
// its status, provided that nothing else has written meanwhile. It reads from the
// cache first; if that was stale, it starts over with the node from the server, at
// most twice. It does nothing if the UID of the node differs, or if edit returns
// false.
func (b *Backend) change(ctx context.Context, name, uid, what string, status bool, edit func(context.Context, *corev1.Node) (bool, error)) error {
	var err error
	for _, from := range []client.Reader{b.Reader, b.Client, b.Client} {
		if err = b.changeFrom(ctx, from, name, uid, status, edit); !apierrors.IsConflict(err) {
			break
		}
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("node %s: %s: %w", name, what, err)
	}
	return nil
}

func (b *Backend) changeFrom(ctx context.Context, from client.Reader, name, uid string, status bool, edit func(context.Context, *corev1.Node) (bool, error)) error {
	var n corev1.Node
	if err := from.Get(ctx, client.ObjectKey{Name: name}, &n); err != nil || uid != "" && uid != string(n.UID) {
		return err
	}
	before := n.DeepCopy()
	if differs, err := edit(ctx, &n); err != nil || !differs {
		return err
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if status {
		return b.Client.Status().Patch(ctx, &n, patch)
	}
	return b.Client.Patch(ctx, &n, patch)
}
