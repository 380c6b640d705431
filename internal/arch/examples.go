package arch

import (
	"fmt"
	"go/ast"
	"strings"
)

// minExamples is the minimum number of examples with checked output in a public
// package.
const minExamples = 2

// examples checks that every public package shows how it is used.
func examples(t *Tree) []Finding {
	count, first := map[string]int{}, map[string]*File{}
	for _, f := range t.Go {
		switch {
		case f.Test:
			count[f.Dir] += checkedExamples(f)
		case public(f) && first[f.Dir] == nil:
			first[f.Dir] = f
		}
	}
	var found []Finding
	for dir, f := range first {
		if n := count[dir]; n < minExamples {
			found = append(found, Finding{f.Path, 0, fmt.Sprintf("package %s has %d examples with checked output: it needs %d, which go doc shows to users", f.AST.Name.Name, n, minExamples)})
		}
	}
	return found
}

// checkedExamples counts the file's Examples whose output is compared.
func checkedExamples(f *File) int {
	n := 0
	for _, decl := range f.AST.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || d.Recv != nil || !strings.HasPrefix(d.Name.Name, "Example") || d.Body == nil {
			continue
		}
		for _, group := range f.AST.Comments {
			text := group.Text()
			if group.Pos() > d.Body.Lbrace && group.End() < d.Body.Rbrace &&
				(strings.HasPrefix(text, "Output:") || strings.HasPrefix(text, "Unordered output:")) {
				n++
			}
		}
	}
	return n
}
