package arch

import (
	"fmt"
	"slices"
	"strings"
)

// importArrows checks that source files import nothing of the module but what
// the lattice allows, and that every package is in the lattice.
func importArrows(t *Tree) []Finding {
	var found []Finding
	unlisted := map[string]bool{}
	for _, f := range t.sources() {
		may, known := arrows(f.Dir)
		if !known && !unlisted[f.Dir] {
			unlisted[f.Dir] = true
			found = append(found, Finding{f.Path, 0, fmt.Sprintf(
				"package %s is not in the lattice of internal/arch/policy.go: list it with what it may import", f.Dir)})
		}
		for _, spec := range f.AST.Imports {
			to, ok := insideModule(importPath(spec))
			if !ok || !known || slices.Contains(may, to) || sharedByExamples(f.Dir, to) {
				continue
			}
			advice := "see the lattice in internal/arch/policy.go for what may import what, and why"
			if slices.Contains(testOnly, to) {
				advice = "only tests import it"
			}
			found = append(found, t.at(f, spec, "%s may not import %s: %s", f.Dir, to, advice))
		}
	}
	return found
}

// sharedByExamples reports whether dir is an example and to is a package that
// examples share, other than those that only their tests share.
func sharedByExamples(dir, to string) bool {
	return strings.HasPrefix(dir, "examples/") && strings.HasPrefix(to, "examples/internal/") && !slices.Contains(testOnly, to)
}

// foreignImports checks that code from outside the standard library and the
// module comes from the direct requirements. Each of them is imported by one
// package only, and not even by tests of others; requirements for tests are
// imported only by tests.
func foreignImports(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		if f.Nested {
			continue
		}
		for _, spec := range f.AST.Imports {
			p := importPath(spec)
			if _, ok := insideModule(p); ok || (standard(p) && p != "C") {
				continue
			}
			d, ok := dependencyOf(p)
			switch {
			case p == "C":
				found = append(found, t.at(f, spec, "cgo is not used in this module: it must cross-build for every target"))
			case !ok:
				found = append(found, t.at(f, spec, "%s is not provided by a direct requirement: the module has five and accepts no others", p))
			case d.importer == "" && !f.Test:
				found = append(found, t.at(f, spec, "%s is for tests: only _test.go files import it", d.path))
			case d.importer != "" && d.importer != f.Dir:
				found = append(found, t.at(f, spec, "only %s imports %s: use that package, or move this code there", d.importer, d.path))
			}
		}
	}
	return found
}

// dotImports checks that no file imports into its own scope, where neither
// readers nor the other rules can see where a name comes from.
func dotImports(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		for _, spec := range f.AST.Imports {
			if spec.Name != nil && spec.Name.Name == "." {
				found = append(found, t.at(f, spec, "dot import of %s: name the package", importPath(spec)))
			}
		}
	}
	return found
}

// insideModule returns the directory of an import of the root module.
func insideModule(importPath string) (dir string, ok bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// standard reports whether an import path is the standard library's: no dot in
// its first element.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}
