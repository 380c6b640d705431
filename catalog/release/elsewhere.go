package release

import (
	"context"
	"encoding/json"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// elsewhere asks a resolver about catalogs as if the requirements that nothing met before
// were met.
type elsewhere struct {
	resolver Resolver
	unmet    map[string]bool // requirements, see requirement; packages, see absent
	made     map[*catalog.Catalog]*catalog.Catalog
}

// assume takes what nothing meets in a catalog as met.
func (e *elsewhere) assume(ctx context.Context, before *catalog.Catalog) error {
	list, err := e.resolver.Unmet(ctx, before)
	if err != nil {
		return err
	}
	e.unmet = map[string]bool{}
	for _, p := range list {
		e.unmet[requirement(before, p)] = true
	}
	return nil
}

// requirement identifies a requirement. If it is for a package that the old catalog does not
// have, the range does not matter: which versions there are elsewhere is not known.
func requirement(before *catalog.Catalog, p catalog.Property) string {
	if p.Type == catalog.PropertyPackageRequired {
		var required struct {
			Package string `json:"packageName"`
		}
		if json.Unmarshal(p.Value, &required) == nil {
			if _, ok := before.Package(required.Package); !ok {
				return p.Type + "\x00" + required.Package
			}
		}
	}
	if tree := doc.Tree(p.Value); tree != nil {
		return p.Type + "\x00" + string(doc.AppendCanonical(nil, tree, doc.NumbersAsWritten))
	}
	return p.Type + "\x00" + string(p.Value)
}

// reach asks the resolver about a catalog without the assumed requirements.
func (e *elsewhere) reach(ctx context.Context, before, c *catalog.Catalog, pkg, channel string, from catalog.Installed) (string, error) {
	trimmed := e.made[c]
	if trimmed == nil {
		var err error
		if trimmed, err = e.without(before, c); err != nil {
			return "", err
		}
		e.made[c] = trimmed
	}
	return e.resolver.Reach(ctx, trimmed, pkg, channel, from)
}

// without returns a catalog with the same updates and bundles, without the assumed
// requirements.
func (e *elsewhere) without(before, c *catalog.Catalog) (*catalog.Catalog, error) {
	if len(e.unmet) == 0 {
		return c, nil
	}
	var documents []*catalog.Document
	changed := false
	for d := range c.Documents() {
		lighter, err := e.lighter(before, c, d)
		if err != nil {
			return nil, err
		}
		changed = changed || lighter != d
		documents = append(documents, lighter)
	}
	if !changed {
		return c, nil
	}
	return catalog.New(documents), nil
}

// lighter returns the document of a bundle without the assumed requirements and its payload,
// or the document itself if it has none.
func (e *elsewhere) lighter(before, c *catalog.Catalog, d *catalog.Document) (*catalog.Document, error) {
	p, ok := c.Package(d.Package())
	if !ok || d.Schema() != catalog.SchemaBundle {
		return d, nil
	}
	b, ok := p.Bundle(d.Name())
	if !ok || b.Document() != d {
		return d, nil
	}
	facts, err := b.Facts()
	if err != nil {
		return nil, err
	}
	kept := make([]catalog.Property, 0, len(facts))
	for _, f := range facts {
		if f.Value != nil && !e.unmet[requirement(before, f)] {
			kept = append(kept, f)
		}
	}
	if len(kept) == len(facts) {
		return d, nil
	}
	text, err := json.Marshal(map[string]any{"schema": d.Schema(), "package": d.Package(), "name": d.Name(), "image": d.Image(), "properties": kept})
	if err != nil {
		return nil, err
	}
	return catalog.NewDocument(text, d.Start())
}
