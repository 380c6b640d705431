package arch

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// shellPath is the one package that writes commands for people to copy.
const shellPath = modulePath + "/internal/shell"

// commandText matches the end of a text in which a command of one of these programs begins and
// has not ended: what follows becomes a part of it.
var commandText = regexp.MustCompile(`(?:^|[^\w./-])(?:oc|kubectl|fairlead) [a-z-][^;)]*$`)

// commandVerb matches a format that puts a value into such a command.
var commandVerb = regexp.MustCompile(`(?:^|[^\w./-])(?:oc|kubectl|fairlead) [a-z-][^;)]*?%[-+#0-9.\[\]]*[a-zA-Z]`)

// echoes matches a format or line that gives a value to echo.
var echoes = regexp.MustCompile(`\becho (?:-[a-z] )?['"]?%[-+#0-9.\[\]]*[a-zA-Z]`)

const echoed = "gives a value to echo, which interprets backslashes in some shells: use shell.Print"

// commands checks that text from elsewhere gets into a command by shell.Command alone, and that
// this gets what it needs: a constant line, with as many places as there are values.
func commands(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		if f.Test || f.Dir == "internal/shell" {
			continue
		}
		lines := map[ast.Node]bool{} // the first arguments of shell.Command
		for sel, pkg := range selections(f) {
			if pkg == shellPath && sel.Sel.Name == "Line" {
				found = append(found, t.at(f, sel, "converts to shell.Line: write the line as a constant, and the rest as values"))
			}
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if !calls(f, n, shellPath, "Command") || len(n.Args) == 0 {
					return true
				}
				lines[n.Args[0]] = true
				if echoes.MatchString(text(n.Args[0])) {
					found = append(found, t.at(f, n, "%s", echoed))
				}
				if want := strings.Count(text(n.Args[0]), "%s"); want != len(n.Args)-1 && n.Ellipsis == token.NoPos {
					found = append(found, t.at(f, n, "shell.Command has %d values for %d places", len(n.Args)-1, want))
				}
			case *ast.BinaryExpr:
				if lines[n] {
					return false
				}
				if n.Op == token.ADD && commandText.MatchString(lastText(n.X)) && !constant(n.Y) {
					found = append(found, t.at(f, n, "puts a value into a command: make it with shell.Command, which quotes"))
				}
			case *ast.BasicLit:
				if !lines[n] && n.Kind == token.STRING && echoes.MatchString(text(n)) {
					found = append(found, t.at(f, n, "%s", echoed))
				}
				if !lines[n] && n.Kind == token.STRING && commandVerb.MatchString(text(n)) {
					found = append(found, t.at(f, n, "formats a value into a command: make it with shell.Command, which quotes"))
				}
			}
			return true
		})
	}
	return found
}

// calls reports whether a call is of that function of a package.
func calls(f *File, n *ast.CallExpr, pkg, name string) bool {
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	for _, spec := range f.AST.Imports {
		if importPath(spec) == pkg && localName(spec) == id.Name {
			return true
		}
	}
	return false
}

// text returns what is known of a string expression: its literals, joined.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, _ := strconv.Unquote(e.Value) // the parser has checked it
			return s
		}
	case *ast.BinaryExpr:
		return text(e.X) + text(e.Y)
	case *ast.ParenExpr:
		return text(e.X)
	}
	return ""
}

// lastText returns the literal that a sum of strings ends with, or "".
func lastText(e ast.Expr) string {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		return lastText(sum.Y)
	}
	return text(e)
}

// constant reports whether an expression consists of literals.
func constant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.BinaryExpr:
		return constant(e.X) && constant(e.Y)
	}
	return false
}

// dirFiles are the files that may use os.DirFS, with why.
var dirFiles = map[string]string{
	"catalog/source/source.go": "the user named one file, which may be a link",
}

// directories checks that what reads a directory does not follow links out of it.
func directories(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		if f.Test || strings.HasPrefix(f.Dir, "internal/bench") || dirFiles[f.Path] != "" {
			continue
		}
		for sel, pkg := range selections(f) {
			if pkg == "os" && sel.Sel.Name == "DirFS" {
				found = append(found, t.at(f, sel, "os.DirFS follows links out of the directory: use the FS of os.OpenRoot"))
			}
		}
	}
	return found
}
