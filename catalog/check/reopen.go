package check

import (
	"context"
	"io/fs"
	"maps"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/internal/inspect"
)

// Reopen opens a catalog again in fsys, as [catalog.Catalog.Reopen] does, and checks
// it as [Open] would, reusing its report: only files that changed are read, and only
// packages whose documents changed or that had findings are checked, so that
// checking after every change is cheap. before is the report of c, from any function
// of this package; with the report of another catalog everything is checked.
func Reopen(ctx context.Context, c *catalog.Catalog, before *Report, fsys fs.FS) (*catalog.Catalog, *Report, error) {
	k := &bundleFaults{}
	now, err := c.Reopen(inspect.With(ctx, k.start), fsys)
	if now == nil {
		return nil, nil, err
	}
	if before == nil || before.of != c {
		report, err := Catalog(ctx, now, nil)
		return now, report, err
	}
	flaws := k.all()
	for d := range now.Documents() {
		if f := before.flaws[d]; f != nil { // from a file that did not change
			flaws[d] = f
		}
	}
	report, err := judge(ctx, now, flaws, before)
	if err != nil {
		return nil, nil, err
	}
	return now, report, nil
}

// settled returns the packages that were checked before, without findings, and of
// which no document was added, removed or changed since: the findings of a package
// depend only on its documents. (Unreadable documents of others only hide findings.)
func settled(c *catalog.Catalog, before *Report) map[string]bool {
	if before.of == nil {
		return nil
	}
	old, gone := map[*catalog.Document]bool{}, map[string]int{}
	for d := range before.of.Documents() {
		if before.sound[d.Package()] {
			old[d] = true
			gone[d.Package()]++
		}
	}
	same := maps.Clone(before.sound)
	for d := range c.Documents() {
		if old[d] {
			gone[d.Package()]--
		} else {
			delete(same, d.Package())
		}
	}
	maps.DeleteFunc(same, func(name string, _ bool) bool { return gone[name] > 0 })
	return same
}

// sound returns the packages without findings, and that would have none if
// everything could be read.
func (v *validator) sound() map[string]bool {
	sound := maps.Clone(v.settled)
	if sound == nil {
		sound = map[string]bool{}
	}
	for name, p := range v.packages {
		sound[name] = p.doc != nil && !mayMiss(v.c, name)
	}
	for _, f := range v.findings {
		sound[f.pkg] = false
	}
	maps.DeleteFunc(sound, func(_ string, is bool) bool { return !is })
	return sound
}

// mayMiss reports whether documents of a package may be among those that cannot
// be read.
func mayMiss(c *catalog.Catalog, name string) bool {
	for _, schema := range []string{catalog.SchemaPackage, catalog.SchemaChannel, catalog.SchemaBundle, catalog.SchemaDeprecations} {
		if c.MayMiss(schema, name, "") {
			return true
		}
	}
	return false
}
