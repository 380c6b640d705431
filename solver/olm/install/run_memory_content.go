package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
)

// unpack puts the content of a bundle into the world.
func (b *MemBackend) unpack(w *World, a Unpack) error {
	content := Content{Source: a.Source, Bundle: a.Bundle}
	err := b.read(w, a, &content)
	if err != nil {
		content.Error = err.Error()
	}
	w.Contents = put(w.Contents, content, func(c *Content) bool {
		return c.Source == content.Source && c.Bundle == content.Bundle
	})
	return nil
}

func (b *MemBackend) read(w *World, a Unpack, c *Content) error {
	held, err := FindBundle(b.Sources, a)
	if err != nil {
		return err
	}
	if c.Properties, err = held.Facts(); err != nil {
		return err
	}
	if c.Manifests, err = Inline(held); err == nil && len(c.Manifests) == 0 {
		c.Manifests, err = madeUp(held, w.Namespace)
	}
	return err
}

// FindBundle returns the bundle to unpack, from the catalogs of a resolver.
func FindBundle(catalogs []olm.Source, a Unpack) (*catalog.Bundle, error) {
	for _, src := range catalogs {
		if src.SourceKey != a.Source || src.Catalog == nil {
			continue
		}
		p, ok := src.Catalog.Package(a.Package)
		if !ok {
			return nil, fmt.Errorf("catalog %s no longer has package %s", a.Source, a.Package)
		}
		if b, ok := p.Bundle(a.Bundle); ok {
			return b, nil
		}
		return nil, fmt.Errorf("package %s of catalog %s no longer has bundle %s", a.Package, a.Source, a.Bundle)
	}
	return nil, fmt.Errorf("there is no catalog %s", a.Source)
}

// Inline returns the objects in the olm.bundle.object properties of a bundle,
// in order. Bundles that exist only as an image have none. It reads the
// bundle's file.
func Inline(b *catalog.Bundle) ([]json.RawMessage, error) {
	if b == nil {
		return nil, errors.New("there is no bundle to take it from")
	}
	props, err := b.Properties()
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for _, p := range props {
		if p.Type != "olm.bundle.object" {
			continue
		}
		var held struct{ Data []byte }
		if err := json.Unmarshal(p.Value, &held); err != nil {
			return nil, fmt.Errorf("property olm.bundle.object: %w", err)
		}
		all = append(all, held.Data)
	}
	return all, nil
}

type gvk struct{ Group, Version, Kind string }

// crdName makes up the name of a CRD.
func (g gvk) crdName() string { return strings.ToLower(g.Kind) + "s." + g.Group }

// madeUp is a content for a bundle that has none in its catalog.
func madeUp(b *catalog.Bundle, namespace string) ([]json.RawMessage, error) {
	csv, err := olm.InstalledFrom(b, namespace)
	if err != nil {
		return nil, err
	}
	props, err := b.Facts()
	if err != nil {
		return nil, err
	}
	served := make(map[string][]string)
	var names []string
	owns := &csv.Spec.CustomResourceDefinitions
	for _, p := range props {
		var g gvk
		if p.Type != "olm.gvk" && p.Type != "olm.gvk.required" {
			continue
		}
		if err := json.Unmarshal(p.Value, &g); err != nil {
			return nil, fmt.Errorf("property %s: %w", p.Type, err)
		}
		d := olm.CRDDescription{Name: g.crdName(), Version: g.Version, Kind: g.Kind}
		if p.Type == "olm.gvk.required" {
			owns.Required = append(owns.Required, d)
			continue
		}
		owns.Owned = append(owns.Owned, d)
		if served[d.Name] == nil {
			names = append(names, d.Name)
		}
		served[d.Name] = append(served[d.Name], d.Version)
	}
	csv.Spec.InstallModes = group.InstallModes{
		{Type: group.ModeOwnNamespace, Supported: true}, {Type: group.ModeSingleNamespace, Supported: true},
		{Type: group.ModeMultiNamespace, Supported: true}, {Type: group.ModeAllNamespaces, Supported: true},
	}
	csv.Spec.Install.Spec.Deployments = []olm.StrategyDeployment{{
		Name: b.Name(), Spec: json.RawMessage(`{"template":{"spec":{"containers":[{"name":"operator"}]}}}`),
	}}
	var all []any
	all = append(all, map[string]any{
		"apiVersion": groupOLM + "/v1alpha1", "kind": kindCSV, "metadata": csv.ObjectMeta,
		"spec": csv.Spec,
	})
	for _, name := range names {
		var versions []any
		for _, v := range served[name] {
			versions = append(versions, map[string]any{"name": v, "served": true, "storage": len(versions) == 0})
		}
		_, group, _ := strings.Cut(name, ".")
		all = append(all, map[string]any{
			"apiVersion": groupCRD + "/v1", "kind": kindCRD, "metadata": map[string]any{"name": name},
			"spec": map[string]any{"group": group, "versions": versions},
		})
	}
	var manifests []json.RawMessage
	for _, o := range all {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, text)
	}
	return manifests, nil
}
