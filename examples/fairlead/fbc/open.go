package fbc

import (
	"errors"
	"fmt"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
)

// open opens a catalog for a command that needs all of it: if it has faults,
// they are printed and the command ends. The source of the catalog is closed when
// the command ends.
func (c *call) open(path string) (*catalog.Catalog, error) {
	cat, err := c.openSound(path)
	if err == nil && len(cat.Faults()) > 0 {
		return nil, args.ErrFindings
	}
	return cat, err
}

// openSound opens a catalog for a command that can use its sound parts. Faults
// are printed; see sound for the consequences.
func (c *call) openSound(path string) (*catalog.Catalog, error) {
	src, err := c.source(path)
	if err != nil {
		return nil, err
	}
	cat, err := catalog.Open(c.Context, src, nil)
	var faults catalog.Diagnostics
	if errors.As(err, &faults) {
		const most = 10
		for i, d := range faults {
			if more := len(faults) - i; i == most && more > 1 {
				fmt.Fprintf(c.Stderr, "and %d more findings; fairlead catalog validate %s lists them\n", more, path)
				break
			}
			fmt.Fprintln(c.Stderr, d)
		}
		return cat, nil
	}
	if err == nil && !holdsAny(cat) {
		return nil, emptyCatalog(path)
	}
	return cat, err
}

// sound returns nil if the faults of a catalog do not affect a package, or any
// package if pkg is empty; otherwise the command has findings.
func sound(cat *catalog.Catalog, pkg string) error {
	if pkg == "" && len(cat.Faults()) > 0 || pkg != "" && cat.MayMiss("", pkg, "") {
		return args.ErrFindings
	}
	return nil
}

// source opens the source of a catalog.
func (c *call) source(path string) (*source.Source, error) {
	c.Doing("reading " + path)
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
	if cat.MayMiss(catalog.SchemaPackage, name, name) {
		return nil, args.ErrFindings // it may be unreadable, which was reported
	}
	var names []string
	for p := range cat.Packages() {
		names = append(names, p.Name())
	}
	hint := "; it has " + words.List(names, "and", 5)
	if nearest := words.Nearest(name, names); nearest != "" {
		hint = fmt.Sprintf("; did you mean %q?", nearest)
	}
	return nil, fmt.Errorf("there is no package %q in the catalog%s", name, hint)
}

// openPackage opens the catalog of the first argument and returns the package of
// the second.
func (c *call) openPackage() (*catalog.Catalog, *catalog.Package, error) {
	cat, err := c.openSound(c.Arg(0))
	if err != nil {
		return nil, nil, err
	}
	p, err := pkg(cat, c.Arg(1))
	return cat, p, err
}
