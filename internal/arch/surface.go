package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// foreignSurface checks that no exported signature mentions a type of another
// module, so that each requirement can be replaced without affecting users. An
// unexported alias of such a type counts as the type. Standard library types
// are fine.
func foreignSurface(t *Tree) []Finding {
	aliases := foreignAliases(t)
	var found []Finding
	for _, f := range t.sources() {
		names := foreignNames(f)
		eachExported(f, func(name string, _ *ast.CommentGroup, node ast.Node) {
			for _, part := range signature(node) {
				ast.Inspect(part, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.SelectorExpr:
						if id, ok := n.X.(*ast.Ident); ok && names[id.Name] != "" {
							found = append(found, t.at(f, n, "%s shows %s.%s of %s: exported signatures may only use types of this module and the standard library", name, id.Name, n.Sel.Name, names[id.Name]))
						}
					case *ast.Ident:
						if from := aliases[f.Dir+" "+n.Name]; from != "" {
							found = append(found, t.at(f, n, "%s shows %s, an alias of a type of %s: exported signatures may only use types of this module and the standard library", name, n.Name, from))
						}
					}
					return true
				})
			}
		})
	}
	return found
}

// foreignNames maps the names by which a file refers to packages of other
// modules to their paths.
func foreignNames(f *File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.AST.Imports {
		p := importPath(spec)
		if _, ours := insideModule(p); !ours && !standard(p) {
			names[localName(spec)] = p
		}
	}
	return names
}

// foreignAliases maps "directory name" of each unexported type alias that
// mentions another module to that module's path.
func foreignAliases(t *Tree) map[string]string {
	aliases := map[string]string{}
	for _, f := range t.sources() {
		names := foreignNames(f)
		ast.Inspect(f.AST, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !spec.Assign.IsValid() || spec.Name.IsExported() {
				return true
			}
			ast.Inspect(spec.Type, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if id, ok := sel.X.(*ast.Ident); ok && names[id.Name] != "" {
						aliases[f.Dir+" "+spec.Name.Name] = names[id.Name]
					}
				}
				return true
			})
			return true
		})
	}
	return aliases
}

// signature returns the parts of a declaration that users see: no bodies, no
// unexported fields, and for a value its type, or its initial value if the type
// is inferred.
func signature(node ast.Node) []ast.Node {
	switch n := node.(type) {
	case *ast.FuncDecl:
		return []ast.Node{n.Type}
	case *ast.TypeSpec:
		var parts []ast.Node
		if n.TypeParams != nil {
			parts = append(parts, n.TypeParams)
		}
		return append(parts, visibleType(n.Type)...)
	case *ast.Field:
		return visibleType(n.Type)
	case *ast.ValueSpec:
		if n.Type != nil {
			return []ast.Node{n.Type}
		}
		var parts []ast.Node
		for _, v := range n.Values {
			parts = append(parts, v)
		}
		return parts
	}
	return nil
}

// visibleType returns the parts of a type expression that users see. The
// members of structs and interfaces are separate declarations, except embedded
// ones.
func visibleType(e ast.Expr) []ast.Node {
	var members *ast.FieldList
	switch e := e.(type) {
	case *ast.StructType:
		members = e.Fields
	case *ast.InterfaceType:
		members = e.Methods
	default:
		return []ast.Node{e}
	}
	var parts []ast.Node
	for _, m := range members.List {
		if len(m.Names) == 0 {
			parts = append(parts, m.Type)
		}
	}
	return parts
}

// eachExported calls visit for every exported declaration of the file: top
// level ones, methods of exported types, and fields and interface methods of
// exported types. The name is qualified by the type; doc is the comment that
// documents it, nil if none does.
func eachExported(f *File, visit func(name string, doc *ast.CommentGroup, node ast.Node)) {
	for _, decl := range f.AST.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				receiver := receiverName(d)
				if !ast.IsExported(receiver) {
					continue
				}
				name = receiver + "." + name
			}
			if d.Name.IsExported() {
				visit(name, firstComment(d.Doc), d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				exportedSpec(d, spec, visit)
			}
		}
	}
}

func exportedSpec(d *ast.GenDecl, spec ast.Spec, visit func(string, *ast.CommentGroup, ast.Node)) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		doc := firstComment(s.Doc, d.Doc, s.Comment)
		visit(s.Name.Name, doc, s)
		exportedMembers(s, doc, visit)
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				visit(name.Name, firstComment(s.Doc, s.Comment, d.Doc), s)
			}
		}
	}
}

// exportedMembers visits the fields and methods of a struct or interface. The
// comment of the type documents a member if it names it, in upper or lower
// case.
func exportedMembers(s *ast.TypeSpec, typeDoc *ast.CommentGroup, visit func(string, *ast.CommentGroup, ast.Node)) {
	var list *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return
	}
	for _, m := range list.List {
		for _, name := range m.Names {
			if !name.IsExported() {
				continue
			}
			doc := firstComment(m.Doc, m.Comment)
			if doc == nil && typeDoc != nil && regexp.MustCompile(`(?i)\b`+name.Name+`\b`).MatchString(typeDoc.Text()) {
				doc = typeDoc
			}
			visit(s.Name.Name+"."+name.Name, doc, m)
		}
	}
}

func firstComment(groups ...*ast.CommentGroup) *ast.CommentGroup {
	for _, g := range groups {
		if g != nil && strings.TrimSpace(g.Text()) != "" {
			return g
		}
	}
	return nil
}

func receiverName(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// documented checks that every exported identifier has a comment: its own, its
// group's for constants and variables, or the type's for a member that it
// names.
func documented(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		if f.Test || f.Generated {
			continue
		}
		eachExported(f, func(name string, doc *ast.CommentGroup, node ast.Node) {
			if doc == nil {
				found = append(found, t.at(f, node, "exported %s has no comment: say what it is, its units, order and errors", name))
			}
		})
	}
	return found
}

// packageComment checks that every package has a package comment, in public
// packages in doc.go.
func packageComment(t *Tree) []Finding {
	seen, has := map[string]*File{}, map[string]bool{}
	var found []Finding
	for _, f := range t.Go {
		if f.Test {
			continue
		}
		if seen[f.Dir] == nil {
			seen[f.Dir] = f
		}
		if firstComment(f.AST.Doc) == nil {
			continue
		}
		if has[f.Dir] = true; public(f) && path.Base(f.Path) != "doc.go" {
			found = append(found, Finding{f.Path, 0, "has a package comment: in a public package only doc.go may have one"})
		}
	}
	for dir, f := range seen {
		if !has[dir] {
			found = append(found, Finding{f.Path, 0, fmt.Sprintf("package %s has no package comment: say what it is for", f.AST.Name.Name)})
		}
	}
	return found
}

// public reports whether users can import the file's package.
func public(f *File) bool {
	return !f.Nested && !strings.HasPrefix(f.Dir, "examples/") && f.AST.Name.Name != "main" && !strings.Contains("/"+f.Dir+"/", "/internal/")
}

// maxMethods is the maximum number of methods that an exported interface may
// declare itself. Further methods belong in an upgrade interface, found by type
// assertion.
const maxMethods = 4

// interfaceSize checks that exported interfaces stay small.
func interfaceSize(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.sources() {
		eachExported(f, func(name string, _ *ast.CommentGroup, node ast.Node) {
			spec, ok := node.(*ast.TypeSpec)
			if !ok {
				return
			}
			list, ok := spec.Type.(*ast.InterfaceType)
			if !ok {
				return
			}
			methods := 0
			for _, m := range list.Methods.List {
				methods += len(m.Names)
			}
			if methods > maxMethods {
				found = append(found, t.at(f, spec, "interface %s has %d methods, more than %d: move the methods that not everyone needs to an upgrade interface", name, methods, maxMethods))
			}
		})
	}
	return found
}

// packageState checks that there are no init functions and no variables that
// users could change: options are values that callers pass. Sentinel errors are
// the exception.
func packageState(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.sources() {
		for _, decl := range f.AST.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					found = append(found, t.at(f, d, "init function: do the work where it is needed"))
				}
			case *ast.GenDecl:
				if d.Tok != token.VAR {
					continue
				}
				for _, spec := range d.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						if name.IsExported() && !strings.HasPrefix(name.Name, "Err") {
							found = append(found, t.at(f, name, "exported variable %s: any code can change it for all the rest; make it a constant, a function or an option", name.Name))
						}
					}
				}
			}
		}
	}
	return found
}
