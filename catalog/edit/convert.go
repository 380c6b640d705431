package edit

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/csv"
	"github.com/fairlead/fairlead/internal/doc"
)

// ConvertObjects returns the catalog with olm.csv.metadata properties in place
// of olm.bundle.object ones, which OpenShift 4.17 and later expects and which
// are much smaller: of the manifests, only the parts of the CSV that consoles
// show are left.
//
// A bundle keeps its objects, and a [Change] says why, if it has no image to
// take the manifests from, or none of its objects is a readable CSV; one that
// already has olm.csv.metadata loses them. Everything else stays byte for byte.
// Converted documents are held in memory. The error is that of ctx or of
// reading.
func ConvertObjects(ctx context.Context, c *catalog.Catalog) (*catalog.Catalog, []Change, error) {
	k := &composer{}
	var kept []Change
	for d := range c.Documents() {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		why, err := k.convert(d)
		if err != nil {
			return nil, nil, err
		}
		if why != "" {
			kept = append(kept, Change{Package: d.Package(), Bundle: d.Name(), Why: why})
		}
	}
	return k.catalog(), kept, nil
}

// convert adds a document, converted if it is a bundle that can be, or says why
// it cannot.
func (k *composer) convert(d *catalog.Document) (why string, err error) {
	has := func(typ string) bool {
		return slices.ContainsFunc(d.PropertyIndex(), func(p catalog.Property) bool { return p.Type == typ })
	}
	if !has(catalog.PropertyBundleObject) {
		k.keep(d)
		return "", nil
	}
	if d.Image() == "" {
		k.keep(d)
		return "it has no image to take the manifests from", nil
	}
	var metadata []byte
	if !has(catalog.PropertyCSVMetadata) {
		if metadata, err = csvMetadataOf(d); err != nil {
			return "", err
		}
		if metadata == nil {
			k.keep(d)
			return "none of its objects is a CSV that can be read", nil
		}
	}
	return "", k.edit(d, func(v *doc.Value) []edit {
		list := v.Field("properties")
		e := keepElements(list, func(i int, _ *doc.Value) bool { return d.PropertyIndex()[i].Type != catalog.PropertyBundleObject })
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

// csvMetadataOf returns the olm.csv.metadata property for a bundle's CSV, or
// nil if it has none.
func csvMetadataOf(d *catalog.Document) ([]byte, error) {
	properties, err := d.Properties()
	if err != nil {
		return nil, err
	}
	for _, p := range properties {
		if p.Type != catalog.PropertyBundleObject {
			continue
		}
		manifest, err := csv.ManifestJSON(p.Value)
		if err != nil || csv.Manifest(manifest) == nil {
			continue
		}
		value := csv.MetadataOf(doc.Tree(manifest))
		return json.Marshal(catalog.Property{Type: catalog.PropertyCSVMetadata, Value: value})
	}
	return nil, nil
}
