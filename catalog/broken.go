package catalog

import (
	"iter"
	"path"
	"slices"

	"github.com/fairlead/fairlead/catalog/internal/shape"
	"github.com/fairlead/fairlead/internal/doc"
)

// Broken is a document that a catalog leaves out because of a fault, as far as
// it can be read, or the rest of a file that cannot be read at all. It exists
// but its content is unknown, so it must not be reported as missing.
type Broken struct {
	File string // the file that it is in
	// Schema, Package and Name are what the document says; each may occur twice
	// with different values, or not at all. Nothing is known about a document
	// without a schema.
	Schema, Package, Name []string
}

// Broken returns the documents that are left out because of faults, by path of
// their file and place in it.
func (c *Catalog) Broken() iter.Seq[Broken] {
	return func(yield func(Broken) bool) {
		for _, f := range c.files {
			for _, b := range f.broken {
				if !yield(b) {
					return
				}
			}
		}
		for _, b := range c.unlisted {
			if !yield(b) {
				return
			}
		}
	}
}

// MayMiss reports whether a document of that schema, package and name may be
// among those that are left out because of faults. An empty schema or name
// stands for any. A document that does not name its package may belong to the
// package of others in its directory, or to one that the directory is named
// after; in the root of the catalog, to any.
func (c *Catalog) MayMiss(schema, pkg, name string) bool {
	for b := range c.Broken() {
		if schema != "" && len(b.Schema) > 0 && !slices.Contains(b.Schema, schema) {
			continue
		}
		owners := b.Package
		if schema == SchemaPackage || schema == "" && slices.Contains(b.Schema, SchemaPackage) {
			owners = b.Name
		}
		if len(owners) == 0 && !c.home(b, pkg) || len(owners) > 0 && !slices.Contains(owners, pkg) {
			continue
		}
		if name == "" || len(b.Name) == 0 || slices.Contains(b.Name, name) {
			return true
		}
	}
	return false
}

// home reports whether a document in the file of b may belong to a package.
func (c *Catalog) home(b Broken, pkg string) bool {
	dir := path.Dir(b.File)
	if dir == "." || path.Base(dir) == pkg || path.Base(b.File) == pkg {
		return true
	}
	c.homesOnce.Do(func() {
		c.homes = map[string]map[string]bool{}
		for d := range c.Documents() {
			dir := path.Dir(d.pos.File)
			if c.homes[dir] == nil {
				c.homes[dir] = map[string]bool{}
			}
			c.homes[dir][d.Package()] = true
		}
	})
	return c.homes[dir][pkg]
}

// glimpse finds what can be known about a document that cannot be read.
func glimpse(source []byte) Broken {
	return Broken{Schema: doc.Glimpse(source, "schema"), Package: doc.Glimpse(source, "package"), Name: doc.Glimpse(source, "name")}
}

func (b Broken) at(file string) Broken {
	b.File = file
	return b
}

// subject names the document, if it can be identified.
func (b Broken) subject() string {
	if len(b.Schema) != 1 || shape.Schema(b.Schema[0]) == nil || len(b.Package) > 1 || len(b.Name) > 1 || len(b.Package)+len(b.Name) == 0 {
		return ""
	}
	d := Document{schema: b.Schema[0]}
	if len(b.Package) == 1 {
		d.pkg = b.Package[0]
	}
	if len(b.Name) == 1 {
		d.name = b.Name[0]
	}
	return d.Subject()
}

// brokenAt says what is known about the current document, which has a fault.
func (x *indexer) brokenAt(d *doc.Document) Broken {
	b := glimpse(d.JSON)
	b.File = x.file.path
	return b
}
