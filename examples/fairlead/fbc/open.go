package fbc

import (
	"fmt"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/source"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// open opens a catalog for a command that needs all of it: if it has faults,
// they are printed and the command ends. The source of the catalog is closed when
// the command ends.
func (c *call) open(path string) (*catalog.Catalog, error) {
	cat, err := c.openSound(path)
	if err == nil {
		err = sound(cat, "")
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
	if cat == nil {
		return nil, err
	}
	if err == nil && !holdsAny(cat) {
		return nil, emptyCatalog(path)
	}
	c.tell(cat.Faults(), 10, "", path)
	c.tell(cat.Warnings(), 3, "warning: ", path)
	return cat, nil
}

// tell prints findings about a catalog beside the answer, up to a number.
func (c *call) tell(found catalog.Diagnostics, most int, kind, path string) {
	for i, d := range catalog.Relocate(found, c.placer("", path)) {
		if more := len(found) - i; i == most && more > 1 {
			words.Fprintf(c.Stderr, "%sand %d more; %s lists them\n", kind, more, shell.Command("fairlead catalog validate %s", path))
			break
		}
		words.Fprintf(c.Stderr, "%s%s\n", kind, d)
	}
}

// sound returns nil if the faults of a catalog do not affect a package, or any
// package if pkg is empty. Otherwise what was said about it is not certain.
func sound(cat *catalog.Catalog, pkg string) error {
	switch {
	case pkg == "" && len(cat.Faults()) > 0:
		return fmt.Errorf("%s cannot be read, see above", words.Count(len(cat.Faults()), "part of the catalog", "parts of the catalog"))
	case pkg != "" && cat.MayMiss("", pkg, ""):
		return fmt.Errorf("a part of package %s may be among what cannot be read, see above: until that is fixed, an answer is not certain", pkg)
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
		return nil, fmt.Errorf("package %s is not among what can be read of the catalog, see above", name)
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
