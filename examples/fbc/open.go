package main

import (
	"errors"
	"fmt"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/examples/internal/args"
)

// open opens a catalog for a command that is not about its faults: if it has
// any, they are printed, and the command ends. The catalog's place is closed
// when the command ends.
func (c *call) open(path string) (*catalog.Catalog, error) {
	src, err := c.source(path)
	if err != nil {
		return nil, err
	}
	cat, err := catalog.Open(c.Context, src, nil)
	var faults catalog.Diagnostics
	if errors.As(err, &faults) {
		for _, d := range faults {
			fmt.Fprintln(c.Stderr, d)
		}
		return nil, args.ErrFindings
	}
	return cat, err
}

// source opens the place of a catalog.
func (c *call) source(path string) (*source.Source, error) {
	src, err := source.Open(c.Context, path, nil)
	if err == nil {
		c.opened = append(c.opened, src)
	}
	return src, err
}

// pkg returns a package of a catalog.
func pkg(cat *catalog.Catalog, name string) (*catalog.Package, error) {
	if p, ok := cat.Package(name); ok {
		return p, nil
	}
	return nil, fmt.Errorf("there is no package %q in the catalog", name)
}
