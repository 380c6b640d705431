package kube_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// Each controller package has an example program of at most sixty lines, and at most
// a page in the README that names it.
func TestPrograms(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(readme), "\n## ")
	dirs, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	adapters := 0
	for _, d := range dirs {
		if !d.IsDir() || d.Name() == "internal" {
			continue
		}
		adapters++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, d.Name()+"/example_test.go", nil, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		programs := 0
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Example") {
				continue
			}
			programs++
			before := files.Position(file.Name.Pos()).Line
			imports := files.Position(file.Imports[len(file.Imports)-1].End()).Line - before
			if n := files.Position(f.End()).Line - files.Position(f.Pos()).Line + imports; n > 60 {
				t.Errorf("%s: %s and its imports have %d lines, want 60 at most", d.Name(), f.Name.Name, n)
			}
		}
		if programs == 0 {
			t.Errorf("%s/example_test.go has no Example", d.Name())
		}
		page := 0
		for _, s := range sections {
			if strings.Contains(s, "`kube/"+d.Name()+"`") {
				page = max(page, strings.Count(s, "\n"))
			}
		}
		if page == 0 || page > 60 {
			t.Errorf("README: the section about kube/%s has %d lines, want 1 to 60", d.Name(), page)
		}
	}
	if adapters < 10 {
		t.Errorf("%d adapters were looked at", adapters)
	}
}
