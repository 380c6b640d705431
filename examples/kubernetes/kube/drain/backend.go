package drain

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/nodes"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Backend adapts a cluster to package lifecycle/drain. Its methods may be
// called from several goroutines, for different nodes.
//
//  1. Requests, the node and its pods are read from the server, in this order, so
//     that no request is overlooked, and a node is not taken for empty because a
//     cache lags behind. Disruption budgets and DaemonSets are read from Cache.
//  2. Each write names the UID of the observed object. If the server refuses it,
//     the error is a [*fairlead.RefusedError].
type Backend struct {
	Client client.Client // reads and writes, without a cache
	Cache  client.Reader // a cache of nodes, disruption budgets, DaemonSets and namespaces
	// Namespaces is whether the policy has rules on labels of namespaces;
	// namespaces are observed only for these.
	Namespaces bool
	// Facts adds to a World what only you know: Slots (as returned by a
	// drain.Gate), Replacement, Stopped, ClusterLabels and Own. It may be nil.
	Facts func(ctx context.Context, w *drain.World) error
}

// Observe implements drain.Backend.
func (b *Backend) Observe(ctx context.Context, node string) (*drain.World, error) {
	w := &drain.World{Name: node}
	if err := b.requests(ctx, w); err != nil {
		return nil, err
	}
	read := nodes.Reader{Client: b.Client, Cache: b.Cache, Namespaces: b.Namespaces}
	found, object, err := read.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	if w.Node = found; found == nil {
		return w, nil
	}
	w.BootID = object.Status.NodeInfo.BootID
	if len(w.Requests) > 0 { // without requests pods do not matter: the node is returned to service
		if err := read.Pods(ctx, b.Client, nodes.On(node), &w.View); err != nil {
			return nil, err
		}
	}
	if b.Facts != nil {
		if err := b.Facts(ctx, w); err != nil {
			return nil, fmt.Errorf("node %s: %w", node, err)
		}
	}
	return w, nil
}

// requests fills in the requests for the node.
func (b *Backend) requests(ctx context.Context, w *drain.World) error {
	all := kube.ListOf(Kind)
	if err := b.Client.List(ctx, all); err != nil {
		return fmt.Errorf("list drain requests: %w", err)
	}
	for i := range all.Items {
		if nodeOf(&all.Items[i]) != w.Name {
			continue
		}
		r, spec, err := requestOf(&all.Items[i])
		if err != nil {
			return err
		}
		w.Requests = append(w.Requests, r)
		w.Fenced = w.Fenced || spec.Fenced && !r.Cancelled
	}
	return nil
}

// nodeOf returns the node of a request.
func nodeOf(u *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName")
	return name
}

// Apply implements drain.Backend.
func (b *Backend) Apply(ctx context.Context, _ string, action drain.Action) error {
	if r, ok := action.(drain.Report); ok {
		return nodes.Refused(b.report(ctx, r))
	}
	known, err := nodes.Apply(ctx, b.Client, b.Cache, action)
	if !known {
		return fmt.Errorf("kube/drain: actions of type %T are not supported: the engine is newer than its backend", action)
	}
	return err
}

// report writes the status of a request. The UID in the patch makes the server
// refuse it for another request with the same name. A deleted request needs no
// status.
func (b *Backend) report(ctx context.Context, a drain.Report) error {
	word := func(s string) any {
		if s == "" {
			return nil // removes the field
		}
		return s
	}
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": a.UID},
		"status":   map[string]any{"phase": word(string(a.Status.Phase)), "reason": word(a.Status.Reason)},
	})
	if err != nil {
		return err
	}
	err = b.Client.Status().Patch(ctx, kube.Stub(Kind, "", a.Request), client.RawPatch(types.MergePatchType, data))
	if kube.IsAnother(err) {
		return &fairlead.RefusedError{Code: 409, Message: "drain request " + a.Request + " has another UID than " + a.UID + ": it was created again"}
	}
	return client.IgnoreNotFound(err)
}
