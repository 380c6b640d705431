package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Rooms draws the imports between the public packages of the root module as a
// Mermaid flowchart: an arrow from a package to each one that it imports,
// except those that it also reaches through another one. The root package,
// which nearly all others import, is left out.
func Rooms(t *Tree) string {
	imports := map[string]map[string]bool{}
	for _, f := range t.sources() {
		if f.Test || f.Nested || !room(f.Dir) {
			continue
		}
		if imports[f.Dir] == nil {
			imports[f.Dir] = map[string]bool{}
		}
		for _, spec := range f.AST.Imports {
			if to, ok := insideModule(importPath(spec)); ok && room(to) {
				imports[f.Dir][to] = true
			}
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	names := slices.Sorted(maps.Keys(imports))
	for i, from := range names {
		fmt.Fprintf(&b, "    n%d[%s]\n", i, from)
	}
	for i, from := range names {
		for k, to := range names {
			if imports[from][to] && !around(imports, from, to) {
				fmt.Fprintf(&b, "    n%d --> n%d\n", i, k)
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// room reports whether a directory contains a public package to draw.
func room(dir string) bool {
	return dir != "." && !strings.HasPrefix(dir, "examples") && !slices.Contains(strings.Split(dir, "/"), "internal")
}

// around reports whether from reaches to through another package.
func around(imports map[string]map[string]bool, from, to string) bool {
	var reaches func(at string) bool
	reaches = func(at string) bool {
		return imports[at][to] || slices.ContainsFunc(slices.Collect(maps.Keys(imports[at])), reaches)
	}
	for next := range imports[from] {
		if next != to && reaches(next) {
			return true
		}
	}
	return false
}
