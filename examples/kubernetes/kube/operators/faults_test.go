package operators_test

import (
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
)

// server fills a server with a catalog, a group and objects, of whatever kind.
func server(s *budget.Server, opts operators.Options, versions []shelf.Version, more ...any) func(ctrl.Manager) error {
	source, group := object(catalogKind, ns, "plumbing"), object(groupKind, ns, "plumbing")
	source.Object["spec"] = map[string]any{"sourceType": "configmap", "configMap": "plumbing"}
	group.Object["spec"] = map[string]any{"targetNamespaces": []any{ns}}
	there := map[schema.GroupVersionKind][]any{
		namespaceKind: {&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, UID: "n"}}},
		kind("", "v1", "ConfigMap"): {&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "plumbing", UID: "c"}, Data: map[string]string{"catalog.json": shelf.Catalog(versions...)},
		}},
		catalogKind: {source.Object}, groupKind: {group.Object}, subscriptionKind: more,
	}
	for _, k := range append(operators.WatchedKinds(nil), kind(shelf.Group, "v1", "Pipe")) {
		s.Kind(k, !rooted[k.Kind], there[k]...)
	}
	s.Play = budget.Established
	opts.KubeVersion = "v1.36.0"
	return func(mgr ctrl.Manager) (err error) {
		if opts.Store == nil {
			if opts.Store, err = budget.Store(mgr, "operators"); err != nil {
				return err
			}
		}
		return operators.SetupWithManager(mgr, opts)
	}
}

var (
	namespaceKind = kind("", "v1", "Namespace")
	rooted        = map[string]bool{
		"Namespace": true, "CustomResourceDefinition": true, "APIService": true, "ClusterRole": true, "ClusterRoleBinding": true,
		"ValidatingWebhookConfiguration": true, "MutatingWebhookConfiguration": true,
	}
)

// TestAtRest: once an operator is installed, changes of objects of others, of the same kinds, cause no
// request.
func TestAtRest(t *testing.T) {
	s := budget.New(t)
	setup := server(s, operators.Options{}, []shelf.Version{onlyPipes()}, subscription("Automatic").Object)
	for _, k := range operators.WatchedKinds(nil) {
		if !rooted[k.Kind] && k.Group != "operators.coreos.com" {
			s.Kind(k, true, object(k, budget.Elsewhere, "x").Object)
		}
	}
	s.AtRest(t, 1000, setup)
}

// TestFaults: whatever goes wrong with the server, an operator is installed, each of its objects once.
func TestFaults(t *testing.T) {
	budget.Faults(t, "operators: an operator is installed", func(_ *testing.T, s *budget.Server) func(ctrl.Manager) error {
		return server(s, operators.Options{}, []shelf.Version{onlyPipes()}, subscription("Automatic").Object)
	})
}
