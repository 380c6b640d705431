package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/lifecycle/drain"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Apply carries out an action about a node or a pod. known is false for other
// actions. If the server refuses it, the error is a [*fairlead.RefusedError]. Nodes
// are read from the cache: if that was stale, changes of them are refused.
func Apply(ctx context.Context, c client.Client, cache client.Reader, action fairlead.Action) (known bool, err error) {
	switch a := action.(type) {
	case drain.Cordon:
		err = fresh(c, cache, func(from client.Reader) error { return cordon(ctx, c, from, a) })
	case drain.Uncordon:
		err = fresh(c, cache, func(from client.Reader) error { return uncordon(ctx, c, from, a) })
	case drain.Evict:
		err = evict(ctx, c, a)
	case drain.DeletePod:
		err = deletePod(ctx, c, a)
	case drain.TaintOutOfService:
		err = taint(ctx, c, a.Node, a.UID, true)
	case drain.UntaintOutOfService:
		err = taint(ctx, c, a.Node, a.UID, false)
	default:
		return false, nil
	}
	return true, Refused(err)
}

// cordon cordons a node, and records the mark in an annotation, unless the
// node is already cordoned.
func cordon(ctx context.Context, c client.Client, from client.Reader, a drain.Cordon) error {
	var n corev1.Node
	if err := from.Get(ctx, client.ObjectKey{Name: a.Node}, &n); err != nil {
		return err
	}
	if n.Spec.Unschedulable && string(n.UID) == a.UID {
		return nil
	}
	meta := map[string]any{"uid": a.UID, "resourceVersion": n.ResourceVersion}
	if a.Mark != "" {
		meta["annotations"] = map[string]any{drain.CordonAnnotation: a.Mark}
	}
	return patch(ctx, c, a.Node, a.UID, map[string]any{"metadata": meta, "spec": map[string]any{"unschedulable": true}})
}

// uncordon uncordons a node, and removes the mark, unless others have cordoned it: they
// leave none.
func uncordon(ctx context.Context, c client.Client, from client.Reader, a drain.Uncordon) error {
	var n corev1.Node
	if err := from.Get(ctx, client.ObjectKey{Name: a.Node}, &n); err != nil {
		return err
	}
	if _, ours := n.Annotations[drain.CordonAnnotation]; !ours && string(n.UID) == a.UID {
		return nil
	}
	return patch(ctx, c, a.Node, a.UID, map[string]any{
		"metadata": map[string]any{"uid": a.UID, "resourceVersion": n.ResourceVersion, "annotations": map[string]any{drain.CordonAnnotation: nil}},
		"spec":     map[string]any{"unschedulable": false},
	})
}

// fresh makes a change that is based on a node in the cache, and again with the node as
// the server has it if it is refused: perhaps only the cache was stale.
func fresh(c client.Client, cache client.Reader, change func(from client.Reader) error) error {
	err := change(cache)
	if old := (*fairlead.RefusedError)(nil); errors.As(err, &old) || apierrors.IsNotFound(err) {
		err = change(c)
	}
	return err
}

// patch changes a node. The UID in the change makes the server refuse it for another
// node with the same name.
func patch(ctx context.Context, c client.Client, node, uid string, change any) error {
	data, err := json.Marshal(change)
	if err != nil {
		return err
	}
	err = c.Patch(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, client.RawPatch(types.MergePatchType, data))
	if kube.IsAnother(err) {
		return &fairlead.RefusedError{Code: 409, Message: "node " + node + " has changed, or has another UID than " + uid}
	}
	return err
}

// taint adds the taint out-of-service to a node, or removes it. The list of
// taints is written as a whole, so only if nothing else has written since.
func taint(ctx context.Context, c client.Client, node, uid string, is bool) error {
	var n corev1.Node
	if err := c.Get(ctx, client.ObjectKey{Name: node}, &n); err != nil {
		return err
	}
	if string(n.UID) != uid {
		return &fairlead.RefusedError{Code: 409, Message: "node " + node + " has another UID than " + uid + ": it was created again"}
	}
	ours := func(t corev1.Taint) bool {
		return t.Key == drain.OutOfServiceTaint && t.Effect == corev1.TaintEffectNoExecute
	}
	if slices.ContainsFunc(n.Spec.Taints, ours) == is {
		return nil
	}
	taints := slices.DeleteFunc(slices.Clone(n.Spec.Taints), ours)
	if is {
		taints = append(taints, corev1.Taint{Key: drain.OutOfServiceTaint, Value: "nodeshutdown", Effect: corev1.TaintEffectNoExecute})
	}
	return patch(ctx, c, node, uid, map[string]any{
		"metadata": map[string]any{"uid": uid, "resourceVersion": n.ResourceVersion},
		"spec":     map[string]any{"taints": taints},
	})
}

func evict(ctx context.Context, c client.Client, a drain.Evict) error {
	u := types.UID(a.UID)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Name}}
	return c.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Name},
		DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: a.GracePeriodSeconds, Preconditions: &metav1.Preconditions{UID: &u}},
	})
}

func deletePod(ctx context.Context, c client.Client, a drain.DeletePod) error {
	u := types.UID(a.UID)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Name}}
	return c.Delete(ctx, pod, &client.DeleteOptions{GracePeriodSeconds: a.GracePeriodSeconds, Preconditions: &metav1.Preconditions{UID: &u}})
}

// Refused converts a refusal by the server to the engine's error; other errors
// stay as they are.
func Refused(err error) error {
	var status apierrors.APIStatus
	if err == nil || !errors.As(err, &status) {
		return err
	}
	s := status.Status()
	r := &fairlead.RefusedError{Code: int(s.Code), Message: s.Message}
	if s.Details != nil {
		r.RetryAfter = time.Duration(s.Details.RetryAfterSeconds) * time.Second
	}
	return r
}
