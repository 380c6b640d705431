package olmv1_test

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/olmv1"
)

// These types represent ClusterExtension, BundleMetadata, Bundle,
// VersionRelease and Deprecation of operator-controller and operator-registry.
type (
	extensionLike   map[string]any
	metadataLike    struct{ Name, Version string }
	bundleLike      struct{ Name, Image string }
	releaseLike     struct{ Version string }
	deprecationLike struct{ Package string }
)

// The newest bundle in a channel of one catalog.
func ExampleResolver() {
	bundle := func(n string) any {
		return map[string]any{"schema": "olm.bundle", "package": "ferry", "name": "ferry.v" + n, "image": "example.com/ferry:" + n,
			"properties": []any{map[string]any{"type": "olm.package", "value": map[string]any{"packageName": "ferry", "version": n}}}}
	}
	r := &olmv1.Resolver[extensionLike, metadataLike, bundleLike, releaseLike, deprecationLike]{
		Catalogs: func(context.Context, string) ([]olmv1.Catalog, error) {
			return []olmv1.Catalog{{
				Object:   map[string]any{"metadata": map[string]any{"name": "community"}},
				Packages: []any{map[string]any{"name": "ferry", "defaultChannel": "stable"}},
				Channels: []any{map[string]any{"schema": "olm.channel", "package": "ferry", "name": "stable", "entries": []any{
					map[string]any{"name": "ferry.v1.0.0"}, map[string]any{"name": "ferry.v1.1.0", "replaces": "ferry.v1.0.0"},
				}}},
				Bundles: []any{bundle("1.0.0"), bundle("1.1.0")},
			}}, nil
		},
		Version: func(*bundleLike) (*releaseLike, error) { return &releaseLike{}, nil },
	}
	ext := extensionLike{"metadata": map[string]any{"name": "ferry"}, "spec": map[string]any{
		"source": map[string]any{"sourceType": "Catalog", "catalog": map[string]any{"packageName": "ferry"}},
	}}
	chosen, _, _, err := r.Resolve(context.Background(), &ext, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(chosen.Name, chosen.Image)
	// Output:
	// ferry.v1.1.0 example.com/ferry:1.1.0
}
