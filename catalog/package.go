package catalog

import (
	"iter"
	"slices"
	"sync"

	"github.com/fairlead/fairlead/internal/semverx"
)

// Package is a package of a catalog: an olm.package document and the channels
// and bundles that name it.
type Package struct {
	doc          *Document
	channels     []*Channel  // by name
	bundles      []*Bundle   // by name
	deprecations []*Document // by path and place

	sayOnce sync.Once
	say     map[string][]*statement // see statements

	editionOnce sync.Once
	editions    map[string]*edition // of bundles

	listOnce sync.Once
	listed   map[string][]string // of each entry: the channels that have it
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

// listing returns the names of the channels, except one, that have an entry of that name,
// in order.
func (p *Package) listing(entry, except string) []string {
	p.listOnce.Do(func() {
		p.listed = map[string][]string{}
		for _, ch := range p.channels {
			for _, e := range ch.doc.record.entries {
				if l := p.listed[e.Name]; len(l) == 0 || l[len(l)-1] != ch.Name() {
					p.listed[e.Name] = append(l, ch.Name())
				}
			}
		}
	})
	all := p.listed[entry]
	if i := slices.Index(all, except); i >= 0 {
		return slices.Concat(all[:i], all[i+1:])
	}
	return all
}

// meant returns the name of a bundle that is given by name or version, or what is given.
func (p *Package) meant(nameOrVersion string) string {
	v, err := semverx.ParseTolerant(nameOrVersion)
	if _, ok := p.Bundle(nameOrVersion); ok || err != nil {
		return nameOrVersion
	}
	for _, b := range p.bundles {
		if semverx.Tolerant(b.Version()).Compare(v) == 0 {
			return b.Name()
		}
	}
	return nameOrVersion
}

// edition returns the version of the bundle of that name, nil if there is no such bundle.
func (p *Package) edition(bundle string) *edition {
	p.editionOnce.Do(func() {
		p.editions = make(map[string]*edition, len(p.bundles))
		for _, b := range p.bundles {
			if p.editions[b.Name()] == nil { // of bundles of one name the first
				p.editions[b.Name()] = &edition{semverx.Tolerant(b.Version()), b.Version()}
			}
		}
	})
	return p.editions[bundle]
}
