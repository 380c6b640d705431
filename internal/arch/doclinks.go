package arch

import (
	"go/ast"
	"regexp"
)

// docLink matches what go doc treats as a link: a name, a member of a type, or
// either of them after a package's name, in brackets, with or without a star.
var docLink = regexp.MustCompile(`(?:^|[\s("'])\[\*?(?:([a-z][a-z0-9]*)\.)?([A-Z]\w*)(?:\.([A-Z]\w*))?\]`)

// docLinks checks that what a comment links to, in its own package or in
// another one of the module, exists.
func docLinks(t *Tree) []Finding {
	names, dirs := exportedNames(t)
	var found []Finding
	for _, f := range t.Go {
		if f.Test {
			continue
		}
		for _, group := range f.AST.Comments {
			for _, at := range docLink.FindAllStringSubmatch(group.Text(), -1) {
				link, in := at[2], []string{f.Dir}
				if at[1] != "" {
					in = dirs[at[1]] // empty for the standard library's
				}
				if at[3] != "" {
					link += "." + at[3]
				}
				if len(in) > 0 && !anyNamed(names, in, link, at[2]) {
					found = append(found, t.at(f, group, "comment links to [%s], which does not exist", link))
				}
			}
		}
	}
	return found
}

// anyNamed reports whether one of the packages exports the name. A member may
// be promoted from an embedded type, so it is enough that the type embeds one.
func anyNamed(names map[string]bool, dirs []string, link, typeName string) bool {
	for _, dir := range dirs {
		if names[dir+" "+link] || names[dir+" "+typeName+" embeds"] {
			return true
		}
	}
	return false
}

// exportedNames returns the set of "directory name" of everything exported
// outside of tests, with "directory type embeds" for types that embed, and the
// directories by package name.
func exportedNames(t *Tree) (names map[string]bool, dirs map[string][]string) {
	names, dirs = map[string]bool{}, map[string][]string{}
	for _, f := range t.Go {
		if f.Test {
			continue
		}
		if pkg := f.AST.Name.Name; !names[f.Dir] && pkg != "main" {
			names[f.Dir] = true
			dirs[pkg] = append(dirs[pkg], f.Dir)
		}
		eachExported(f, func(name string, _ *ast.CommentGroup, node ast.Node) {
			names[f.Dir+" "+name] = true
			if spec, ok := node.(*ast.TypeSpec); ok && embeds(spec.Type) {
				names[f.Dir+" "+name+" embeds"] = true
			}
		})
	}
	return names, dirs
}

func embeds(e ast.Expr) bool {
	switch e.(type) {
	case *ast.StructType, *ast.InterfaceType:
		return len(visibleType(e)) > 0
	}
	return false
}
