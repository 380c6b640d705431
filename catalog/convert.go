package catalog

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/fairlead/fairlead/internal/doc"
)

// ConvertObjects returns the catalog with olm.csv.metadata properties in place
// of olm.bundle.object ones, which OpenShift 4.17 and later wants and which
// are much smaller: of the manifests only what consoles show of the CSV is
// left.
//
// A bundle keeps its objects, and a [Change] says why, if it has no image to
// take the manifests from, or none of its objects is a readable CSV; one that
// has olm.csv.metadata already loses them. All else of the documents stays byte
// for byte. Converted documents are held in memory. The error is that of ctx or
// of reading.
func ConvertObjects(ctx context.Context, c *Catalog) (*Catalog, []Change, error) {
	k := newComposer()
	var kept []Change
	for _, f := range c.files {
		for _, r := range f.packages {
			k.keepPackage(r)
		}
		for _, r := range f.channels {
			k.keepChannel(r)
		}
		for _, d := range f.deprecations {
			k.keepDeprecations(d)
		}
		for _, r := range f.bundles {
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			why, err := k.convert(r)
			if err != nil {
				return nil, nil, err
			}
			if why != "" {
				kept = append(kept, Change{Package: r.doc.pkg, Bundle: r.doc.name, Why: why})
			}
		}
	}
	for d := range c.Others() {
		k.keep(d)
	}
	return k.catalog(), kept, nil
}

// convert takes in a bundle, converted if it can be, or says why it cannot.
func (k *composer) convert(r *bundleRecord) (why string, err error) {
	has := func(typ string) bool {
		return slices.ContainsFunc(r.properties, func(p propertyRecord) bool { return p.Type == typ })
	}
	if !has(PropertyBundleObject) {
		k.keepBundle(r)
		return "", nil
	}
	if r.image == "" {
		k.keepBundle(r)
		return "it has no image, from which the manifests could be taken", nil
	}
	var metadata []byte
	if !has(PropertyCSVMetadata) {
		if metadata, err = csvMetadataOf(r.doc); err != nil {
			return "", err
		}
		if metadata == nil {
			k.keepBundle(r)
			return "none of its objects is a CSV that can be read", nil
		}
	}
	return "", k.edit(r.doc, func(v *doc.Value) []edit {
		list := memberOf(v, "properties")
		e := keepElements(list, func(i int, _ *doc.Value) bool { return r.properties[i].Type != PropertyBundleObject })
		if metadata != nil {
			e.text = appendElement(e.text, metadata)
		}
		return []edit{e}
	})
}

// appendElement adds an element to the text of a list.
func appendElement(list, element []byte) []byte {
	end := len(list) - 1 // of the bracket
	for end > 1 && (list[end-1] == ' ' || list[end-1] == '\n' || list[end-1] == '\r' || list[end-1] == '\t') {
		end--
	}
	out := slices.Clone(list[:end])
	if list[end-1] != '[' {
		out = append(out, ',')
	}
	return append(append(out, element...), list[end:]...)
}

// csvMetadataOf returns the olm.csv.metadata property that stands for a
// bundle's CSV, nil if it has none.
func csvMetadataOf(d *Document) ([]byte, error) {
	properties, err := d.Properties()
	if err != nil {
		return nil, err
	}
	for _, p := range properties {
		if p.Type != PropertyBundleObject {
			continue
		}
		manifest, err := manifestJSON(p.Value)
		if err != nil || manifestFacts(manifest) == nil {
			continue
		}
		value := csvMetadata(doc.Tree(manifest))
		return json.Marshal(Property{Type: PropertyCSVMetadata, Value: value})
	}
	return nil, nil
}

// csvMetadata takes from a CSV what an olm.csv.metadata property holds.
func csvMetadata(csv *doc.Value) []byte {
	out := []byte{'{'}
	for _, f := range []struct {
		name, section, field string
		always               bool // the reference writes it even if it is empty
	}{
		{"annotations", "metadata", "annotations", false},
		{"apiServiceDefinitions", "spec", "apiservicedefinitions", true},
		{"crdDescriptions", "spec", "customresourcedefinitions", true},
		{"description", "spec", "description", false},
		{"displayName", "spec", "displayName", false},
		{"installModes", "spec", "installModes", false},
		{"keywords", "spec", "keywords", false},
		{"labels", "metadata", "labels", false},
		{"links", "spec", "links", false},
		{"maintainers", "spec", "maintainers", false},
		{"maturity", "spec", "maturity", false},
		{"minKubeVersion", "spec", "minKubeVersion", false},
		{"nativeAPIs", "spec", "nativeAPIs", false},
		{"provider", "spec", "provider", true},
	} {
		v := csv.Get(f.section, f.field)
		text := []byte("{}")
		if !v.Null() && string(v.Raw) != `""` {
			text = v.Raw
		} else if !f.always {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(appendText(out, f.name), ':'), text...)
	}
	return append(out, '}')
}
