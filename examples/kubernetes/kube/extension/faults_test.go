package extension_test

import (
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/extension"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/internal/budget"
	"github.com/fairlead/fairlead/examples/kubernetes/kube/operators/shelf"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
)

// server fills a server with a catalog in an image, and an extension that asks for a package of it.
func server(s *budget.Server, opts extension.Options, versions ...shelf.Version) func(ctrl.Manager) error {
	const image = "example.com/plumbing:1"
	if opts.Images == nil {
		opts.Images = images{image: shelf.Catalog(versions...)}
	}
	there := map[schema.GroupVersionKind][]any{
		catalogKind: {map[string]any{
			"metadata": map[string]any{"name": "plumbing", "uid": "c"},
			"spec":     map[string]any{"source": map[string]any{"type": "Image", "image": map[string]any{"ref": image}}},
		}},
		extensionKind: {map[string]any{
			"metadata": map[string]any{"name": "pipes", "uid": "e", "generation": 1},
			"spec":     map[string]any{"namespace": ns, "source": map[string]any{"sourceType": "Catalog", "catalog": map[string]any{"packageName": "pipes", "version": "1.0.0"}}},
		}},
	}
	for _, k := range append(extension.WatchedKinds(nil), kind(shelf.Group, "v1", "Pipe"), kind("", "v1", "Namespace")) {
		s.Kind(k, namespaced[k.Kind], there[k]...)
	}
	s.Play = budget.Established
	return func(mgr ctrl.Manager) (err error) {
		if opts.Store == nil {
			if opts.Store, err = budget.Store(mgr, "extensions"); err != nil {
				return err
			}
		}
		return extension.SetupWithManager(mgr, opts)
	}
}

var namespaced = map[string]bool{"ServiceAccount": true, "Service": true, "ConfigMap": true, "Secret": true, "Deployment": true, "Role": true, "RoleBinding": true}

// TestAtRest: once an extension is installed, changes of objects of others, of the same kinds, cause no
// request.
func TestAtRest(t *testing.T) {
	s := budget.New(t)
	setup := server(s, extension.Options{}, pipes()...)
	for _, k := range extension.WatchedKinds(nil) {
		if namespaced[k.Kind] {
			other := object(k, "x")
			other.SetNamespace(budget.Elsewhere)
			s.Kind(k, true, other.Object)
		}
	}
	s.AtRest(t, 1000, setup)
}

// TestFaults: whatever goes wrong with the server, an extension is installed, by one revision.
func TestFaults(t *testing.T) {
	budget.Faults(t, "extensions: an extension is installed", func(_ *testing.T, s *budget.Server) func(ctrl.Manager) error {
		return server(s, extension.Options{}, pipes()...)
	})
}
