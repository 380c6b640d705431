package fbc

import (
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/examples/internal/args"
)

// packagesThen completes PATH PACKAGE BUNDLE...
func packagesThen(c *args.Call) []string {
	if len(c.Args) == 0 {
		return nil
	}
	return inCatalog(c, c.Args[0], c.Args[1:])
}

// whatIsListed completes packages|channels|bundles PATH PACKAGE.
func whatIsListed(c *args.Call) []string {
	switch len(c.Args) {
	case 0:
		return []string{"bundles", "channels", "packages", "sizes"}
	case 1:
		return nil
	case 2:
		return inCatalog(c, c.Args[1], nil)
	}
	return nil
}

// inCatalog returns the names of the packages of a catalog, or of the bundles of the
// named package; nothing if the catalog cannot be read.
func inCatalog(c *args.Call, path string, named []string) []string {
	src, err := source.Open(c.Context, path, nil)
	if err != nil {
		return nil
	}
	defer src.Close()
	cat, _ := catalog.Open(c.Context, src, nil)
	if cat == nil {
		return nil
	}
	var names []string
	if len(named) == 0 {
		for p := range cat.Packages() {
			names = append(names, p.Name())
		}
		return names
	}
	if p, ok := cat.Package(named[0]); ok {
		for b := range p.Bundles() {
			names = append(names, b.Name())
		}
	}
	return names
}
