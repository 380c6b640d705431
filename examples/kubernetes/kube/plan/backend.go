package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/situation"
	"github.com/fairlead/fairlead/examples/kubernetes/kube"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/drain"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/live"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/rollout"
	engine "github.com/fairlead/fairlead/lifecycle/drain"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Requester is the requester in the DrainRequests that are created here.
const Requester = "cluster-plan"

// clusterVersion is the name of the ClusterVersion that is used.
const clusterVersion = "version"

var (
	kindVersion     = schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: "ClusterVersion"}
	kindInstallPlan = schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "InstallPlan"}
	acks            = client.ObjectKey{Namespace: "openshift-config", Name: "admin-acks"}
)

// Backend adapts an OpenShift cluster to package cvo/plan. It may be used by
// several goroutines.
type Backend struct {
	Client client.Client  // reads and writes, without a cache
	Clock  fairlead.Clock // for the time of an observation
	// Catalogs are those from which operators are updated, by minor version of
	// the cluster; "" is used for all. See plan.ReadOperators.
	Catalogs map[string]*catalog.Catalog
	// Graph returns the update graph for each observation; nil means the updates in the
	// ClusterVersion, which reach one hop.
	Graph func(context.Context) (*graph.Graph, error)
	// Accept lists the risks that the policy accepts: they are named in
	// desiredUpdate if the cluster lists risks.
	Accept []string
}

// Observe implements plan.Backend. The error is that of a ClusterPlan that is missing
// or cannot be read, of a server that does not answer, or of Graph.
func (b *Backend) Observe(ctx context.Context, name string) (*plan.World, error) {
	p, err := b.read(ctx, name)
	if err != nil {
		return nil, err
	}
	from, _, err := live.Objects(ctx, b.Client) // steps that depend on unknown data report the gaps
	if err != nil {
		return nil, err
	}
	seen, err := situation.Of(from, b.Catalogs)
	if err == nil && b.Graph != nil && seen.Cluster != nil {
		var g *graph.Graph
		if g, err = b.Graph(ctx); err == nil {
			err = seen.UseGraph(g)
		}
	}
	if err != nil {
		return nil, err
	}
	seen.At = b.Clock.Now()
	return &plan.World{Situation: seen.Situation, Goal: p.Spec.Goal, Paused: p.Spec.Paused}, nil
}

// read reads a ClusterPlan.
func (b *Backend) read(ctx context.Context, name string) (*ClusterPlan, error) {
	u := kube.Stub(Kind, "", name)
	if err := b.Client.Get(ctx, client.ObjectKey{Name: name}, u); err != nil {
		return nil, err
	}
	p := new(ClusterPlan)
	return p, kube.DecodeObject(u, p)
}

// Apply implements plan.Backend. Each request can be repeated.
func (b *Backend) Apply(ctx context.Context, _ string, action plan.Action) error {
	switch a := action.(type) {
	case plan.SetRelease:
		return b.setRelease(ctx, a.Release)
	case plan.SetPaused:
		return b.merge(ctx, kube.Stub(rollout.Kind, "", a.Pool), map[string]any{"spec": map[string]any{"paused": a.Paused}})
	case plan.Acknowledged:
		return b.acknowledge(ctx, a.Gate)
	case plan.Approve:
		return b.approve(ctx, a.Namespace, a.CSV)
	case plan.DrainNode:
		return b.ask(ctx, a.Node)
	}
	return fmt.Errorf("actions of type %T are not supported", action)
}

// setRelease requests a release from the cluster, in place of any earlier
// request.
func (b *Backend) setRelease(ctx context.Context, release string) error {
	v, ref := kube.Stub(kindVersion, "", clusterVersion), kube.RefOf(kindVersion, "", clusterVersion)
	if err := b.Client.Get(ctx, client.ObjectKeyFromObject(v), v); err != nil {
		return kube.Outcome(ref, err)
	}
	if is, _, _ := unstructured.NestedString(v.Object, "spec", "desiredUpdate", "version"); is == release {
		return nil // it was already requested
	}
	desired := map[string]any{"version": release}
	if risks, _, _ := unstructured.NestedSlice(v.Object, "status", "conditionalUpdateRisks"); len(risks) > 0 && len(b.Accept) > 0 {
		var accept []any
		for _, name := range b.Accept {
			accept = append(accept, map[string]any{"name": name})
		}
		desired["acceptRisks"] = accept
	}
	before := v.DeepCopy()
	if err := unstructured.SetNestedMap(v.Object, desired, "spec", "desiredUpdate"); err != nil {
		return err
	}
	return kube.Outcome(ref, b.Client.Patch(ctx, v, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// merge merges a change into an object.
func (b *Backend) merge(ctx context.Context, u *unstructured.Unstructured, change map[string]any) error {
	text, err := json.Marshal(change)
	if err != nil {
		return err
	}
	ref := kube.RefOf(u.GroupVersionKind(), u.GetNamespace(), u.GetName())
	return kube.Outcome(ref, b.Client.Patch(ctx, u, client.RawPatch(types.MergePatchType, text)))
}

// acknowledge acknowledges a gate.
func (b *Backend) acknowledge(ctx context.Context, gate string) error {
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	return b.merge(ctx, kube.Stub(kind, acks.Namespace, acks.Name), map[string]any{"data": map[string]any{gate: "true"}})
}

// approve approves the install plan that installs a CSV. If it is already approved, as
// with automatic approval, there is nothing to do; nor if it is complete, when the CSV
// is only not ready yet.
func (b *Backend) approve(ctx context.Context, namespace, csv string) error {
	objects := &kube.Objects{Client: b.Client}
	all, err := objects.List(ctx, kindInstallPlan, namespace)
	if err != nil {
		return err
	}
	complete := false
	for i := range all {
		brings, _, _ := unstructured.NestedStringSlice(all[i].Object, "spec", "clusterServiceVersionNames")
		phase, _, _ := unstructured.NestedString(all[i].Object, "status", "phase")
		complete = complete || phase == "Complete" && slices.Contains(brings, csv)
		if !slices.Contains(brings, csv) || phase == "Complete" || phase == "Failed" {
			continue
		}
		if approved, _, _ := unstructured.NestedBool(all[i].Object, "spec", "approved"); approved {
			return nil
		}
		return b.merge(ctx, &all[i], map[string]any{"metadata": map[string]any{"resourceVersion": all[i].GetResourceVersion()}, "spec": map[string]any{"approved": true}})
	}
	if complete {
		return nil
	}
	return &fairlead.RefusedError{Code: http.StatusNotFound, Reason: "NoInstallPlan", Message: fmt.Sprintf(
		"no install plan in namespace %s installs %s; the Operator Lifecycle Manager creates one when the catalog of the subscription offers it", namespace, csv)}
}

// ask creates a DrainRequest for a node.
func (b *Backend) ask(ctx context.Context, node string) error {
	u := kube.Stub(drain.Kind, "", requestName(node))
	u.Object["spec"] = map[string]any{"nodeName": node, "requester": Requester, "purpose": string(engine.Maintenance), "why": "the ClusterPlan " + Name + " requires it"}
	return kube.Outcome(kube.RefOf(drain.Kind, "", u.GetName()), client.IgnoreAlreadyExists(b.Client.Create(ctx, u)))
}

// requestName returns the name of the DrainRequest for a node.
func requestName(node string) string { return Requester + "-" + node }

// GiveBack deletes the requests for nodes that a goal does not name.
func (b *Backend) GiveBack(ctx context.Context, goal *plan.Goal) error {
	objects := &kube.Objects{Client: b.Client}
	all, err := objects.List(ctx, drain.Kind, "")
	if meta.IsNoMatchError(err) {
		return nil // nothing drains nodes here
	}
	if err != nil {
		return err
	}
	for i := range all {
		by, _, _ := unstructured.NestedString(all[i].Object, "spec", "requester")
		node, _, _ := unstructured.NestedString(all[i].Object, "spec", "nodeName")
		if by != Requester || slices.Contains(goal.Nodes, node) {
			continue
		}
		if err := objects.Remove(ctx, drain.Kind, &all[i]); err != nil {
			return err
		}
	}
	return nil
}
