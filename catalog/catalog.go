package catalog

import (
	"cmp"
	"io/fs"
	"iter"
	"slices"
	"sync"
)

// Catalog is an index of the documents in a file system. It never changes, and
// any number of goroutines may use it.
type Catalog struct {
	fsys     fs.FS
	opts     Options
	files    []*fileIndex // by path
	rules    rules
	faults   Diagnostics // all, sorted
	warnings Diagnostics // all, sorted
	unlisted []Broken    // files and directories that could not be read
	packages []*Package  // by name
	byName   map[string]*Package

	homesOnce sync.Once
	homes     map[string]map[string]bool // by directory: the packages that documents in it are of

	providersOnce sync.Once
	providers     map[GVK][]*Bundle
}

// assemble builds packages from the files. If several packages, channels or bundles
// have one name, the first counts, by path and place.
func (c *Catalog) assemble() {
	c.byName = make(map[string]*Package)
	for d := range c.Documents() {
		if d.schema == SchemaPackage && c.byName[d.name] == nil {
			p := &Package{doc: d}
			c.byName[d.name] = p
			c.packages = append(c.packages, p)
		}
	}
	for d := range c.Documents() {
		p := c.byName[d.pkg]
		if p == nil {
			continue
		}
		switch d.schema {
		case SchemaChannel:
			p.channels = append(p.channels, &Channel{doc: d, pkg: p})
		case SchemaBundle:
			p.bundles = append(p.bundles, &Bundle{doc: d, pkg: p})
		case SchemaDeprecations:
			p.deprecations = append(p.deprecations, d)
		}
	}
	slices.SortFunc(c.packages, func(a, b *Package) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, p := range c.packages {
		p.channels = byName(p.channels)
		p.bundles = byName(p.bundles)
	}
}

// byName sorts list by name and keeps the first of each name.
func byName[T interface{ Name() string }](list []T) []T {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(a.Name(), b.Name()) })
	return slices.Clip(slices.CompactFunc(list, func(a, b T) bool { return a.Name() == b.Name() }))
}

// find returns the element of a list made by byName.
func find[T interface{ Name() string }](list []T, name string) (found T, ok bool) {
	i, ok := slices.BinarySearchFunc(list, name, func(e T, name string) int { return cmp.Compare(e.Name(), name) })
	if ok {
		found = list[i]
	}
	return found, ok
}

// Documents returns all documents, by path of their file and place in it.
func (c *Catalog) Documents() iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		for _, f := range c.files {
			for _, d := range f.docs {
				if !yield(d) {
					return
				}
			}
		}
	}
}

// New returns the catalog of documents, in the order given. Their texts stay
// where they are, so that documents of other catalogs and those that
// [NewDocument] makes may be mixed. If several packages, channels or bundles have the
// same name, the first one counts.
func New(documents []*Document) *Catalog {
	c := &Catalog{opts: (*Options)(nil).withDefaults(), files: []*fileIndex{{docs: slices.Clone(documents)}}}
	c.assemble()
	return c
}

// Faults returns the faults found when the catalog was opened, sorted: those that
// [Open] returned with it. The list is the catalog's own.
func (c *Catalog) Faults() Diagnostics { return c.faults }

// Warnings returns what is unusual in the files and was read nevertheless, sorted: keys that
// an object has twice, of which the last one counts (at most 100 in a file), and what was
// left out because it cannot be a part of a catalog. The list is the catalog's own.
func (c *Catalog) Warnings() Diagnostics { return c.warnings }

// Packages returns the packages by name: one for each olm.package document.
func (c *Catalog) Packages() iter.Seq[*Package] { return slices.Values(c.packages) }

// Package returns the package of that name.
func (c *Catalog) Package(name string) (*Package, bool) {
	p, ok := c.byName[name]
	return p, ok
}

// Providers returns the bundles that provide an API by an olm.gvk property, by
// package and then by name. The first call builds an index of all APIs.
func (c *Catalog) Providers(gvk GVK) iter.Seq[*Bundle] {
	c.providersOnce.Do(c.indexProviders)
	return slices.Values(c.providers[gvk])
}

func (c *Catalog) indexProviders() {
	c.providers = make(map[GVK][]*Bundle)
	known := make(map[*byte]GVK) // values are shared: decode each only once
	for _, p := range c.packages {
		for _, b := range p.bundles {
			for _, r := range b.doc.record.properties {
				if r.Type != PropertyGVK || len(r.Value) == 0 {
					continue
				}
				gvk, ok := known[&r.Value[0]]
				if !ok {
					if gvk, ok = parseGVK(r.Value); !ok {
						continue
					}
					known[&r.Value[0]] = gvk
				}
				if list := c.providers[gvk]; len(list) == 0 || list[len(list)-1] != b {
					c.providers[gvk] = append(list, b)
				}
			}
		}
	}
}
