package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Tree is a module's source, read once and shared by all rules. It is not
// changed after Load.
type Tree struct {
	Go   []*File   // every Go file outside testdata, in path order
	Mods []*Module // every go.mod outside testdata, in path order
	Text []*Text   // every text file, testdata included, in path order
	fset *token.FileSet
}

// Text is one file as read.
type Text struct {
	Path string // slash-separated, below the root
	Data string // its bytes, unchanged
}

// File is one parsed Go file.
type File struct {
	Path      string    // slash-separated, below the root
	Dir       string    // its directory, "." for the root
	Nested    bool      // belongs to a module below the root, not to the root's
	Test      bool      // named _test.go
	Generated bool      // marked as generated code, in Go's own convention
	Lines     int       // number of lines
	AST       *ast.File // with comments
}

// Load reads the tree at the root of fsys. It skips names that start with a dot, except
// .ci, and the directories bin, vendor and node_modules. A Go file that does not parse
// is an error.
func Load(fsys fs.FS) (*Tree, error) {
	t := &Tree{fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			hidden := name != "." && strings.HasPrefix(base, ".") && base != ".ci"
			if hidden || base == "bin" || base == "vendor" || base == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || strings.HasPrefix(base, ".") {
			return nil
		}
		return t.read(fsys, name)
	})
	if err != nil {
		return nil, err
	}
	for _, f := range t.Go {
		f.Nested = t.module(f.Path) != "."
	}
	return t, nil
}

func (t *Tree) read(fsys fs.FS, name string) error {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return nil // not text
	}
	t.Text = append(t.Text, &Text{Path: name, Data: string(data)})
	if inTestdata(name) {
		return nil
	}
	switch {
	case path.Base(name) == "go.mod":
		t.Mods = append(t.Mods, parseModule(name, string(data)))
	case strings.HasSuffix(name, ".go"):
		syntax, err := parser.ParseFile(t.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("arch: every Go file must parse: %w", err)
		}
		t.Go = append(t.Go, &File{
			Path:      name,
			Dir:       path.Dir(name),
			Test:      strings.HasSuffix(name, "_test.go"),
			Generated: ast.IsGenerated(syntax),
			Lines:     bytes.Count(data, []byte("\n")),
			AST:       syntax,
		})
	}
	return nil
}

func inTestdata(name string) bool {
	return strings.HasPrefix(name, "testdata/") || strings.Contains(name, "/testdata/")
}

// module returns the directory of the module that name belongs to.
func (t *Tree) module(name string) string {
	owner := "."
	for _, m := range t.Mods {
		if dir := path.Dir(m.Path); strings.HasPrefix(name, dir+"/") && len(dir) > len(owner) {
			owner = dir
		}
	}
	return owner
}

// sources returns the Go files of the root module that are not tests.
func (t *Tree) sources() []*File {
	var files []*File
	for _, f := range t.Go {
		if !f.Nested && !f.Test {
			files = append(files, f)
		}
	}
	return files
}

func (t *Tree) line(n ast.Node) int { return t.fset.Position(n.Pos()).Line }

// at returns a finding about a node of f.
func (t *Tree) at(f *File, n ast.Node, format string, args ...any) Finding {
	return Finding{f.Path, t.line(n), fmt.Sprintf(format, args...)}
}

// importPath returns the path that an import names.
func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return "" // cannot happen: the parser has checked it
	}
	return p
}

// localName returns the name by which a file refers to an import. If the import
// declares none, it is the last element of the path that is not a major
// version, without a suffix after a dot or the prefix go-: the requirements of
// this module name their packages so.
func localName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	elems := strings.Split(importPath(spec), "/")
	last := elems[len(elems)-1]
	if n := len(elems); n > 1 && isMajor(last) {
		last = elems[n-2]
	}
	name, _, _ := strings.Cut(last, ".")
	return strings.TrimPrefix(name, "go-")
}

func isMajor(elem string) bool {
	_, err := strconv.Atoi(strings.TrimPrefix(elem, "v"))
	return err == nil && elem[0] == 'v'
}
