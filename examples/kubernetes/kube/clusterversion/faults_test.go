package clusterversion_test

import (
	"testing"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/clusterversion"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
)

// server fills a server with a ClusterVersion, and the kinds of a small release.
func server(s *budget.Server, opts clusterversion.Options) func(ctrl.Manager) error {
	version := clusterVersion()
	version.SetUID("v")
	version.SetGeneration(1)
	for kind, there := range map[schema.GroupVersionKind][]any{
		{Group: "config.openshift.io", Version: "v1", Kind: "ClusterVersion"}:            {version.Object},
		{Group: "config.openshift.io", Version: "v1", Kind: "ClusterOperator"}:           nil,
		{Group: "config.openshift.io", Version: "v1", Kind: "FeatureGate"}:               nil,
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}: nil,
		{Group: "example.com", Version: "v1", Kind: "X"}:                                 nil,
	} {
		s.Kind(kind, false, there...)
	}
	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Pod"}, {Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "apps", Version: "v1", Kind: "DaemonSet"}, {Group: "batch", Version: "v1", Kind: "Job"},
	} {
		s.Kind(kind, true)
	}
	s.Play = reporting1
	opts.Own, opts.Verifier = releaseA, cvo.Digests{digestB}
	if opts.Source == nil {
		opts.Source = source{imageA: files("1.0.0", small), imageB: files("1.1.0", small)}
	}
	return func(mgr ctrl.Manager) (err error) {
		if opts.Store, err = budget.Store(mgr, "clusterversion"); err != nil {
			return err
		}
		return clusterversion.SetupWithManager(mgr, &opts)
	}
}

// reporting1 is a cluster whose operator reports that it is at version 1.0.0 once it exists.
func reporting1(o *unstructured.Unstructured) bool {
	if o.GetKind() != "ClusterOperator" || o.Object["status"] != nil {
		return budget.Established(o)
	}
	o.Object["status"] = map[string]any{
		"versions":   []any{map[string]any{"name": "operator", "version": "1.0.0"}},
		"conditions": []any{map[string]any{"type": "Available", "status": "True"}, map[string]any{"type": "Degraded", "status": "False"}, map[string]any{"type": "Progressing", "status": "False"}},
	}
	return true
}

// TestAtRest: once a release is applied, heartbeats and changes of objects of others cause no request.
func TestAtRest(t *testing.T) {
	s := budget.New(t)
	setup := server(s, clusterversion.Options{})
	s.Kind(schema.GroupVersionKind{Version: "v1", Kind: "Node"}, false, budget.Nodes(budget.Size(), nil, nil)...)
	for _, kind := range []schema.GroupVersionKind{{Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "apps", Version: "v1", Kind: "DaemonSet"}, {Group: "batch", Version: "v1", Kind: "Job"}, {Version: "v1", Kind: "ConfigMap"}} {
		s.Kind(kind, true, map[string]any{"metadata": map[string]any{"namespace": budget.Elsewhere, "name": "x", "uid": "x"}})
	}
	s.AtRest(t, 1000, setup)
}

// TestFaults: whatever goes wrong with the server, a release is applied, each manifest once, and the
// ClusterVersion says so.
func TestFaults(t *testing.T) {
	budget.Faults(t, "clusterversion: a release of five manifests is applied", func(_ *testing.T, s *budget.Server) func(ctrl.Manager) error {
		return server(s, clusterversion.Options{})
	})
}
