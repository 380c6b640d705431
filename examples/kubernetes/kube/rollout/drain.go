package rollout

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	engine "github.com/fairlead/fairlead/lifecycle/drain"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Requester is the requester in the DrainRequests that are created here.
const Requester = "machine-config"

// Prefixes of AnnotationDesiredDrain.
const (
	wishDrain    = "drain-"
	wishUncordon = "uncordon-"
)

// requestName returns the name of the DrainRequest for a node.
func requestName(node string) string { return Requester + "-" + node }

// Serve carries out the request in a node's annotation desiredDrain, as far as
// possible now; whatever it waits for triggers the controller. Errors are
// those of the server.
func (b *Backend) Serve(ctx context.Context, node string) error {
	var n corev1.Node
	err := b.Client.Get(ctx, client.ObjectKey{Name: node}, &n)
	if apierrors.IsNotFound(err) {
		return b.dropRequest(ctx, node)
	}
	if err != nil {
		return fmt.Errorf("node %s: get: %w", node, err)
	}
	wish := n.Annotations[rollout.AnnotationDesiredDrain]
	switch met := wish == n.Annotations[rollout.AnnotationLastDrain]; {
	case strings.HasPrefix(wish, wishDrain) && !met:
		return b.drain(ctx, &n, wish)
	case strings.HasPrefix(wish, wishUncordon):
		if err := b.dropRequest(ctx, node); err != nil || met {
			return err
		}
		before := n.DeepCopy()
		n.Spec.Unschedulable = false
		annotate(&n, rollout.AnnotationLastDrain, wish)
		return b.Client.Patch(ctx, &n, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	}
	return nil
}

// drain makes sure that there is a request for the node, and reports when the
// node is empty.
func (b *Backend) drain(ctx context.Context, n *corev1.Node, wish string) error {
	u := kube.Stub(drain.Kind, "", requestName(n.Name))
	err := b.Client.Get(ctx, client.ObjectKeyFromObject(u), u)
	if apierrors.IsNotFound(err) {
		u.Object["spec"] = map[string]any{
			"nodeName": n.Name, "nodeUID": string(n.UID), "requester": Requester, "purpose": string(engine.Maintenance), "why": wish,
		}
		return client.IgnoreAlreadyExists(b.Client.Create(ctx, u))
	}
	if err != nil {
		return fmt.Errorf("drain request %s: get: %w", requestName(n.Name), err)
	}
	why, _, _ := unstructured.NestedString(u.Object, "spec", "why")
	uid, _, _ := unstructured.NestedString(u.Object, "spec", "nodeUID")
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	switch {
	case why != wish || uid != string(n.UID) || phase == string(engine.PhaseOver): // from an older wish
		return b.dropRequest(ctx, n.Name)
	case phase != string(engine.PhaseDrained):
		return nil
	}
	before := n.DeepCopy()
	annotate(n, rollout.AnnotationLastDrain, wish)
	return b.Client.Patch(ctx, n, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// dropRequest deletes our request for a node, if there is one.
func (b *Backend) dropRequest(ctx context.Context, node string) error {
	u := kube.Stub(drain.Kind, "", requestName(node))
	err := b.Client.Get(ctx, client.ObjectKeyFromObject(u), u)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if by, _, _ := unstructured.NestedString(u.Object, "spec", "requester"); by != Requester {
		return nil
	}
	uid := u.GetUID()
	return client.IgnoreNotFound(b.Client.Delete(ctx, u, client.Preconditions{UID: &uid}))
}
