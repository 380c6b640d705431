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
// of olm.bundle.object ones, which OpenShift 4.17 and later wants and which
// are much smaller: of the manifests only what consoles show of the CSV is
// left.
//
// A bundle keeps its objects, and a [Change] says why, if it has no image to
// take the manifests from, or none of its objects is a readable CSV; one that
// has olm.csv.metadata already loses them. All else of the documents stays byte
// for byte. Converted documents are held in memory. The error is that of ctx or
// of reading.
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

// convert takes in a document, a bundle converted if it can be, or says why it
// cannot.
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
		return "it has no image, from which the manifests could be taken", nil
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

// csvMetadataOf returns the olm.csv.metadata property that stands for a
// bundle's CSV, nil if it has none.
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
