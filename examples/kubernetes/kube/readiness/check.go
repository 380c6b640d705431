// Package readiness answers the readiness checks of OpenShift's cluster-version operator
// with a plan: what is to be done before an update, in which order, or what stands in the
// way. [Check] has the methods of its interface Check (pkg/readiness/check.go at 6e719331fb58),
// so that it stands in its list:
//
//	checks := readiness.AllChecks
//	readiness.AllChecks = func() []readiness.Check { return append(checks(), &ours.Check{}) }
//
// What the server does not tell, or may not be read, is in not_seen, and is never taken for
// good news.
package readiness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/situation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Check is a readiness check that plans the update. The zero value is ready. It may be
// used by several goroutines.
type Check struct {
	// Policy is what may be done; nil is the zero one.
	Policy *plan.Policy
	// PauseWorkers asks for a plan whose pools but the control plane restart once.
	PauseWorkers bool
	// Complete adds what the API server does not tell: updates of later releases
	// (plan.FromGraph), and where operators can go (plan.ReadOperators). Nil adds nothing.
	Complete func(context.Context, *plan.Situation) error
}

// Name is what the answer is listed by.
func (c *Check) Name() string { return "fairlead_plan" }

// kinds are what a plan is made from. Those that a cluster may be without are optional.
var kinds = []struct {
	schema.GroupVersionResource
	kind     string
	optional bool
}{
	{schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"}, "ClusterVersion", false},
	{schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusteroperators"}, "ClusterOperator", false},
	{schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"}, "MachineConfigPool", false},
	{schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs"}, "MachineConfig", false},
	{schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, "Node", false},
	{schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "Pod", false},
	{schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}, "PodDisruptionBudget", false},
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}, "ReplicaSet", false},
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}, "StatefulSet", false},
	{schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "subscriptions"}, "Subscription", true},
	{schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "clusterserviceversions"}, "ClusterServiceVersion", true},
	{schema.GroupVersionResource{Group: "apiserver.openshift.io", Version: "v1", Resource: "apirequestcounts"}, "APIRequestCount", false},
}

// configMaps are those of administrators' acknowledgements.
var configMaps = []struct{ namespace, name string }{{"openshift-config-managed", "admin-gates"}, {"openshift-config", "admin-acks"}}

// Run plans the update to a release. The answer has verdict ("plan" or "no plan"); of a
// plan steps, takes and unseen; of none facts and fixes, each of which was tried; and
// not_seen, what could not be read.
func (c *Check) Run(ctx context.Context, client dynamic.Interface, _, target string) (map[string]any, error) {
	objects, unread := c.read(ctx, client)
	text, err := json.Marshal(map[string]any{"kind": "List", "items": objects})
	if err != nil {
		return nil, err
	}
	s, err := situation.From(ctx, bytes.NewReader(text), "the API server")
	if err != nil {
		return nil, err
	}
	if s.Cluster == nil {
		return nil, errors.New("there is no ClusterVersion, or it cannot be read: " + fmt.Sprint(unread))
	}
	s.At = time.Now()
	if c.Complete != nil {
		if err := c.Complete(ctx, &s.Situation); err != nil {
			return nil, err
		}
	}
	out := map[string]any{"not_seen": unread}
	p, err := plan.Make(ctx, &s.Situation, &plan.Goal{Release: target, PauseWorkers: c.PauseWorkers}, c.Policy)
	var none *plan.NoPlanError
	switch {
	case errors.As(err, &none):
		out["verdict"], out["facts"], out["fixes"] = "no plan", none.Facts, none.Fixes
	case err != nil:
		return nil, err
	default:
		steps := []map[string]any{}
		for _, step := range p.Steps {
			steps = append(steps, map[string]any{"do": step.String(), "why": step.Why, "command": step.Command, "done_when": step.After, "back": step.Back, "takes": step.Takes.String()})
		}
		out["verdict"], out["steps"], out["takes"], out["unseen"] = "plan", steps, p.Takes.String(), p.Unseen
	}
	return out, nil
}

// read lists all objects, and tells what could not be read.
func (c *Check) read(ctx context.Context, client dynamic.Interface) (lists []any, unread []string) {
	unread = []string{}
	for _, k := range kinds {
		items, err := all(ctx, client.Resource(k.GroupVersionResource))
		missing := apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
		if err != nil && !(missing && k.optional) {
			unread = append(unread, fmt.Sprintf("%s: %v", k.Resource, err))
			continue
		}
		lists = append(lists, map[string]any{"kind": k.kind + "List", "items": items})
	}
	for _, m := range configMaps {
		o, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(m.namespace).Get(ctx, m.name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			lists = append(lists, map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": m.name, "namespace": m.namespace}})
		case err != nil:
			unread = append(unread, fmt.Sprintf("configmap %s/%s: %v", m.namespace, m.name, err))
		default:
			lists = append(lists, o.Object)
		}
	}
	return lists, unread
}

// all lists the objects of a resource, some hundred at a time.
func all(ctx context.Context, r dynamic.NamespaceableResourceInterface) ([]unstructured.Unstructured, error) {
	items := []unstructured.Unstructured{}
	for token := ""; ; {
		list, err := r.List(ctx, metav1.ListOptions{Limit: 500, Continue: token})
		if err != nil {
			return nil, err
		}
		items = append(items, list.Items...)
		if token = list.GetContinue(); token == "" {
			return items, nil
		}
	}
}
