package catalog

import (
	"iter"
	"slices"
)

// Package is a package of a catalog: an olm.package document and the channels
// and bundles that name it.
type Package struct {
	doc          *Document
	channels     []*Channel  // by name
	bundles      []*Bundle   // by name
	deprecations []*Document // by path and place
}

// Name returns the package's name.
func (p *Package) Name() string { return p.doc.name }

// DefaultChannel returns the name of the channel that is used when none is
// given. The catalog need not have a channel of that name.
func (p *Package) DefaultChannel() string { return p.doc.record.defaultChannel }

// Document returns the package's own document.
func (p *Package) Document() *Document { return p.doc }

// Channels returns the package's channels by name.
func (p *Package) Channels() iter.Seq[*Channel] { return slices.Values(p.channels) }

// Channel returns the channel of that name.
func (p *Package) Channel(name string) (*Channel, bool) { return find(p.channels, name) }

// Bundles returns the package's bundles by name.
func (p *Package) Bundles() iter.Seq[*Bundle] { return slices.Values(p.bundles) }

// Bundle returns the bundle of that name.
func (p *Package) Bundle(name string) (*Bundle, bool) { return find(p.bundles, name) }

// Version returns the version of the bundle of that name, as [Bundle.Version]
// does, or "" if there is no such bundle.
func (p *Package) Version(bundle string) string {
	if b, ok := p.Bundle(bundle); ok {
		return b.Version()
	}
	return ""
}
