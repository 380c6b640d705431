package olmv1_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/examples/kubernetes/kube/olmv1"
)

// These represent the types of operator-controller and operator-registry: they have
// the JSON members that the test uses.
type (
	clusterExtension map[string]any
	bundleMetadata   struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	bundleOf struct {
		Name       string `json:"name"`
		Image      string `json:"image"`
		Properties []struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"`
		} `json:"properties"`
	}
	deprecation struct {
		Package string `json:"package"`
		Entries []struct {
			Message string `json:"message"`
		} `json:"entries"`
	}
	number string
)

// resolver is operator-controller's interface.
type resolver interface {
	Resolve(ctx context.Context, ext *clusterExtension, installed *bundleMetadata) (*bundleOf, *number, *deprecation, error)
}

func version(b *bundleOf) (*number, error) {
	for _, p := range b.Properties {
		if p.Type == "olm.package" {
			var v struct{ Version number }
			return &v.Version, json.Unmarshal(p.Value, &v)
		}
	}
	return nil, errors.New("it has no version")
}

func ferry(n string) map[string]any {
	return map[string]any{"schema": "olm.bundle", "package": "ferry", "name": "ferry.v" + n, "image": "example.com/ferry:" + n,
		"properties": []any{map[string]any{"type": "olm.package", "value": map[string]any{"packageName": "ferry", "version": n}}}}
}

func TestResolver(t *testing.T) {
	packages := []any{map[string]any{"name": "ferry", "defaultChannel": "stable"}} // not read from a file: no schema
	channels := []any{
		map[string]any{"schema": "olm.channel", "package": "ferry", "name": "stable", "entries": []any{
			map[string]any{"name": "ferry.v1.0.0"}, map[string]any{"name": "ferry.v1.1.0", "replaces": "ferry.v1.0.0"}, map[string]any{"name": "ferry.v2.0.0"},
		}},
	}
	bundles := []any{ferry("1.0.0"), ferry("1.1.0"), ferry("2.0.0")}
	deprecations := []any{
		map[string]any{"schema": "olm.deprecations", "package": "ferry", "entries": []any{map[string]any{"reference": map[string]any{"schema": "olm.bundle", "name": "ferry.v1.0.0"}, "message": "old"}}},
	}
	catalog := func(name string, priority int, err error, bundles []any) olmv1.Catalog {
		c := olmv1.Catalog{Object: map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"priority": priority}}, Err: err}
		if len(bundles) > 0 {
			c.Packages, c.Channels, c.Bundles, c.Deprecations = packages, channels, bundles, deprecations
		}
		return c
	}
	off := olmv1.Catalog{Object: map[string]any{"metadata": map[string]any{"name": "off"}, "spec": map[string]any{"availabilityMode": "Unavailable"}}, Err: errors.New("away")}
	for _, c := range []struct {
		name      string
		filter    map[string]any
		installed *bundleMetadata
		catalogs  []olmv1.Catalog
		want      string // the bundle, or a part of the error
	}{
		{"the highest", map[string]any{}, nil, []olmv1.Catalog{off, catalog("a", 0, nil, bundles)}, "ferry.v2.0.0"},
		{"in a range", map[string]any{"version": "<2.0.0"}, nil, []olmv1.Catalog{catalog("a", 0, nil, bundles)}, "ferry.v1.1.0"},
		{"an update", map[string]any{}, &bundleMetadata{"ferry.v1.0.0", "1.0.0"}, []olmv1.Catalog{catalog("a", 0, nil, bundles)}, "ferry.v1.1.0"},
		{"two catalogs", map[string]any{}, nil, []olmv1.Catalog{catalog("a", 0, nil, bundles), catalog("b", 0, nil, bundles)}, "in multiple catalogs with the same priority [a b]"},
		{"one comes first", map[string]any{}, nil, []olmv1.Catalog{catalog("a", 0, nil, bundles), catalog("b", 1, nil, bundles[:2])}, "ferry.v1.1.0"},
		{"none has it", map[string]any{}, nil, []olmv1.Catalog{catalog("a", 0, nil, nil)}, `no bundles found for package "ferry"`},
		{"one is away", map[string]any{}, nil, []olmv1.Catalog{catalog("a", 0, errors.New("away"), nil)}, "away"},
		{"selected", map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"tier": "one"}}}, nil, []olmv1.Catalog{catalog("a", 0, nil, bundles)}, "no bundles found"},
	} {
		c.filter["packageName"] = "ferry"
		ext := &clusterExtension{"metadata": map[string]any{"name": "ferry"}, "spec": map[string]any{"namespace": "ns", "source": map[string]any{"sourceType": "Catalog", "catalog": c.filter}}}
		r := &olmv1.Resolver[clusterExtension, bundleMetadata, bundleOf, number, deprecation]{
			Catalogs: func(context.Context, string) ([]olmv1.Catalog, error) { return c.catalogs, nil }, Version: version,
		}
		b, v, d, err := resolver(r).Resolve(t.Context(), ext, c.installed)
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
		case b.Name != c.want || b.Name != "ferry.v"+string(*v) || !strings.HasSuffix(b.Image, string(*v)):
			t.Errorf("%s: %+v %s, want %s", c.name, b, *v, c.want)
		case d == nil || d.Package != "ferry" || d.Entries[0].Message != "old":
			t.Errorf("%s: deprecations %+v", c.name, d)
		}
		if err != nil {
			continue
		}
		r.Validations = []func(*bundleOf) error{func(*bundleOf) error { return errors.New("not here") }}
		if _, _, _, err := r.Resolve(t.Context(), ext, c.installed); err == nil || !strings.Contains(err.Error(), "not here") {
			t.Errorf("%s: a validation says no, and the error is %v", c.name, err)
		}
	}
}

// TestQuestionFirst reports an error of an extension without reading a catalog.
func TestQuestionFirst(t *testing.T) {
	r := &olmv1.Resolver[clusterExtension, bundleMetadata, bundleOf, number, deprecation]{}
	ext := &clusterExtension{"metadata": map[string]any{"name": "ferry"}, "spec": map[string]any{"source": map[string]any{"sourceType": "Catalog", "catalog": map[string]any{"packageName": "ferry", "version": "foobar"}}}}
	if _, _, _, err := r.Resolve(t.Context(), ext, nil); err == nil || !strings.Contains(err.Error(), "foobar") {
		t.Errorf("got %v", err)
	}
}

// preflight is operator-controller's interface.
type preflight interface {
	Install(context.Context, []any) error
	Upgrade(context.Context, []any) error
}

func TestPreflight(t *testing.T) {
	definition := func(required ...any) map[string]any {
		return map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "ferries.example.com"}, "spec": map[string]any{
			"group": "example.com", "names": map[string]any{"kind": "Ferry", "plural": "ferries"}, "scope": "Namespaced",
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "required": required}}}},
		}}
	}
	boat := map[string]any{"apiVersion": "example.com/v1", "kind": "Ferry", "metadata": map[string]any{"namespace": "ns", "name": "boat"}, "length": "3 m"}
	p := &olmv1.Preflight[any]{
		Definition: func(context.Context, string) (any, error) { return definition(), nil },
		Objects: func(_ context.Context, name, version string) ([]any, error) {
			if name != "ferries.example.com" || version != "v1" {
				t.Errorf("asked for the objects of %s in %s", name, version)
			}
			return []any{boat}, nil
		},
	}
	other := map[string]any{"kind": "Deployment", "metadata": map[string]any{"name": "x"}}
	var refused *olmv1.RefusedError
	if err := preflight(p).Upgrade(t.Context(), []any{other, definition("deck")}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "boat") {
		t.Errorf("an object breaks, and it says %v", err)
	}
	if err := p.Upgrade(t.Context(), []any{definition("length")}); err != nil {
		t.Errorf("no object breaks, and it says %v", err)
	}
	if err := p.Install(t.Context(), []any{other}); err != nil {
		t.Error(err)
	}
	p.Definition = func(context.Context, string) (any, error) { return nil, nil }
	if err := p.Install(t.Context(), []any{definition("deck")}); err != nil {
		t.Errorf("the CRD is new, and it says %v", err)
	}
	p.Definition = func(context.Context, string) (any, error) { return nil, errors.New("away") }
	if err := p.Install(t.Context(), []any{definition()}); err == nil || !strings.Contains(err.Error(), "away") {
		t.Errorf("nothing can be read, and it says %v", err)
	}
}
