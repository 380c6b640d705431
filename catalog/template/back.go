package template

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// FromCatalog turns a catalog back into a basic template, as JSON: every bundle
// is given only by its image, and everything else in full. Rendering it with
// [FromBundles] of the catalog gives the documents again. It is an error if a
// bundle has no image, or two bundles have one.
func FromCatalog(c *catalog.Catalog) ([]byte, error) {
	out := []byte(`{"schema":"` + SchemaBasic + `","entries":[`)
	images := map[string]*catalog.Document{}
	first := true
	for d := range c.Ordered() {
		if !first {
			out = append(out, ',')
		}
		first = false
		if d.Schema() != catalog.SchemaBundle {
			text, err := d.JSON()
			if err != nil {
				return nil, err
			}
			out = append(out, text...)
			continue
		}
		image := d.Image()
		switch other := images[image]; {
		case image == "":
			return nil, fmt.Errorf("catalog: %s: %s has no image for a template to name", d.Pos(), d.Subject())
		case other != nil:
			return nil, fmt.Errorf("catalog: %s: %s has the image of %s at %s: a template tells bundles apart by their images", d.Pos(), d.Subject(), other.Subject(), other.Pos())
		}
		images[image] = d
		out = append(doc.AppendText(append(out, `{"schema":"`+catalog.SchemaBundle+`","image":`...), image), '}')
	}
	return append(out, "]}"...), nil
}

// FromBundles returns a renderer that takes bundles from an existing catalog, by
// image or name; what it does not have is left to next, or is an error if next
// is nil.
func FromBundles(c *catalog.Catalog, next Renderer) Renderer {
	known := map[string]*catalog.Document{}
	for p := range c.Packages() {
		for b := range p.Bundles() {
			for _, ref := range []string{b.Name(), b.Image()} {
				if ref != "" && known[ref] == nil {
					known[ref] = b.Document()
				}
			}
		}
	}
	return func(ctx context.Context, ref string) ([]Bundle, error) {
		d := known[ref]
		switch {
		case d == nil && next == nil:
			return nil, fmt.Errorf("the catalog has no bundle with the image or name %q", ref)
		case d == nil:
			return next(ctx, ref)
		}
		text, err := d.JSON()
		if err != nil {
			return nil, err
		}
		return []Bundle{{JSON: json.RawMessage(slices.Clone(text))}}, nil
	}
}

// WriteYAML writes the documents as YAML, one after the other.
func (r *Result) WriteYAML(w io.Writer) error {
	var out []byte
	for _, d := range r.Documents {
		text, err := catalog.YAML(d)
		if err != nil {
			return err
		}
		out = append(append(out, "---\n"...), text...)
	}
	_, err := w.Write(out)
	return err
}
