package bundle

import (
	"slices"

	"github.com/fairlead/fairlead/catalog"
)

// Entry returns the bundle's channel entry as its CSV states it: what it
// replaces and skips, and the range in its annotation olm.skipRange.
func (b *Bundle) Entry() catalog.Entry {
	if b.CSV == nil {
		return catalog.Entry{}
	}
	return catalog.Entry{
		Name: b.Name(), Replaces: b.CSV.Spec.Replaces, Skips: slices.Clone(b.CSV.Spec.Skips),
		SkipRange: b.CSV.Metadata.Annotations[annotationSkipRange],
	}
}
