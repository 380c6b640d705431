package edit

import (
	"context"

	"github.com/fairlead/fairlead/catalog"
)

// Size is how much space a package takes in a catalog, in bytes of its files.
type Size struct {
	Package  string `json:"package"`  // name
	Bundles  int    `json:"bundles"`  // how many
	Bytes    int    `json:"bytes"`    // of all its documents
	Objects  int    `json:"objects"`  // of the values of olm.bundle.object properties, which [ConvertObjects] replaces
	Metadata int    `json:"metadata"` // of the values of olm.csv.metadata properties
	Icon     int    `json:"icon"`     // of the icon, in base64
}

// SizeOf returns the size of a package. It reads the documents of the package
// and its bundles, one at a time.
func SizeOf(ctx context.Context, p *catalog.Package) (Size, error) {
	s := Size{Package: p.Name(), Bytes: p.Document().Size()}
	info, err := p.Info()
	if err != nil {
		return s, err
	}
	s.Icon = len(info.Icon.Data)
	for ch := range p.Channels() {
		s.Bytes += ch.Document().Size()
	}
	for d := range p.DeprecationDocuments() {
		s.Bytes += d.Size()
	}
	for b := range p.Bundles() {
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		s.Bundles++
		s.Bytes += b.Document().Size()
		properties, err := b.Properties()
		if err != nil {
			return s, err
		}
		for _, property := range properties {
			switch property.Type {
			case catalog.PropertyBundleObject:
				s.Objects += len(property.Value)
			case catalog.PropertyCSVMetadata:
				s.Metadata += len(property.Value)
			}
		}
	}
	return s, nil
}
