package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// batch is several mutants in one build: each function that they change is copied
// once for each of them, and an environment variable selects the copy that is called.
type batch struct {
	files map[string][]byte         // the contents to build in place of files, by path
	lines map[string]map[int]string // numbers of mutants, by path and line
}

// numberVariable is the environment variable that selects the active mutant.
const numberVariable = "FAIRLEAD_MUTANT"

// newBatch puts mutants, keyed by their numbers, into one build. It leaves out those
// that change anything but one function.
func newBatch(mutants map[string]mutant, old func(file string) ([]byte, error)) (*batch, error) {
	b := &batch{files: map[string][]byte{}, lines: map[string]map[int]string{}}
	byFile := map[string][]string{}
	for _, n := range slices.Sorted(maps.Keys(mutants)) {
		byFile[mutants[n].file] = append(byFile[mutants[n].file], n)
	}
	for file, numbers := range byFile {
		text, err := old(file)
		if err != nil {
			return nil, err
		}
		if err := b.add(file, text, numbers, mutants); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// copied is a copy of a function with a change.
type copied struct {
	number, call, text string
}

// add changes one file.
func (b *batch) add(file string, text []byte, numbers []string, mutants map[string]mutant) error {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	changes := map[int][]copied{} // by the number of the declaration
	for _, n := range numbers {
		if at, c, ok := cut(tree, text, mutants[n].text, n); ok {
			changes[at] = append(changes[at], c)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	lines := map[int]string{}
	var out, tail bytes.Buffer
	done := 0
	for _, at := range slices.Sorted(maps.Keys(changes)) {
		d := tree.Decls[at].(*ast.FuncDecl)
		begin, body := offset(tree, d.Pos()), offset(tree, d.Body.Lbrace)+1
		out.Write(text[done:begin])
		signature := *d
		signature.Doc, signature.Body = nil, nil
		if err := printer.Fprint(&out, set, &signature); err != nil {
			return err
		}
		out.WriteString(" {")
		for _, c := range changes[at] {
			fmt.Fprintf(&out, "\n")
			lines[1+bytes.Count(out.Bytes(), []byte("\n"))] = c.number
			fmt.Fprintf(&out, "if mutantAtWork == %s { %s }", c.number, c.call)
		}
		done = body
		for _, c := range changes[at] {
			tail.WriteString("\n" + c.text + "\n")
		}
	}
	out.Write(text[done:])
	line := 1 + bytes.Count(out.Bytes(), []byte("\n"))
	for _, at := range slices.Sorted(maps.Keys(changes)) {
		for _, c := range changes[at] {
			line++ // the empty one
			for range 1 + strings.Count(c.text, "\n") {
				lines[line] = c.number
				line++
			}
		}
	}
	b.files[file], b.lines[file] = append(out.Bytes(), tail.Bytes()...), lines
	b.files[filepath.Join(filepath.Dir(file), "zz_mutant.go")] = fmt.Appendf(nil, "package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantAtWork, _ = strconv.Atoi(os.Getenv(%q))\n", tree.Name.Name, numberVariable)
	return nil
}

// offset returns the byte offset of p in a file that was parsed alone.
func offset(tree *ast.File, p token.Pos) int { return int(p - tree.FileStart) }

// cut returns the function that a mutant changes, with the change and under another name,
// and the code that calls it. It names the parameters of the old one. ok is false if that
// is not possible.
func cut(tree *ast.File, old, changed []byte, number string) (at int, c copied, ok bool) {
	from := 0
	for from < min(len(old), len(changed)) && old[from] == changed[from] {
		from++
	}
	same := 0
	for same < min(len(old), len(changed))-from && old[len(old)-1-same] == changed[len(changed)-1-same] {
		same++
	}
	next, err := parser.ParseFile(token.NewFileSet(), "", changed, parser.SkipObjectResolution)
	if err != nil || len(next.Decls) != len(tree.Decls) {
		return 0, c, false
	}
	at = slices.IndexFunc(tree.Decls, func(d ast.Decl) bool {
		f, is := d.(*ast.FuncDecl)
		return is && f.Body != nil && offset(tree, f.Body.Lbrace) < from && len(old)-same <= offset(tree, f.Body.Rbrace)
	})
	if at < 0 {
		return 0, c, false
	}
	f, is := next.Decls[at].(*ast.FuncDecl)
	if !is || f.Body == nil || f.Name.Name == "init" || f.Name.Name == "_" {
		return 0, c, false
	}
	name := f.Name.Name + "Mutant" + number
	c = copied{number: number, call: call(tree.Decls[at].(*ast.FuncDecl), name)}
	c.text = string(changed[offset(next, f.Pos()):offset(next, f.Name.Pos())]) + name + string(changed[offset(next, f.Name.End()):offset(next, f.End())])
	return at, c, true
}

// call returns the code that calls the function name with the receiver and the parameters
// of f, and names those of f that have no name.
func call(f *ast.FuncDecl, name string) string {
	named := func(list *ast.FieldList) (names []string) {
		for _, field := range list.List {
			if len(field.Names) == 0 {
				field.Names = []*ast.Ident{{Name: "_"}}
			}
			for _, n := range field.Names {
				if n.Name == "_" {
					n.Name = fmt.Sprintf("mutantParameter%d", field.Pos()+n.NamePos)
				}
				if _, variadic := field.Type.(*ast.Ellipsis); variadic {
					names = append(names, n.Name+"...")
				} else {
					names = append(names, n.Name)
				}
			}
		}
		return names
	}
	if f.Recv != nil {
		name = named(f.Recv)[0] + "." + name
	}
	if f.Type.TypeParams != nil {
		name += "[" + strings.Join(named(f.Type.TypeParams), ", ") + "]"
	}
	name += "(" + strings.Join(named(f.Type.Params), ", ") + ")"
	if f.Type.Results == nil {
		return name + "; return"
	}
	return "return " + name
}
