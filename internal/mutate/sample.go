package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// swaps maps operators to what they become.
var swaps = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

// edit is a change of a few bytes of a file.
type edit struct {
	file     string
	position token.Position
	from, to int
	text     string
	what     string
}

// draw returns n mutants of a package, or all if there are fewer, drawn from a
// seed and sorted by file and position.
func draw(dir string, n int, seed uint64) ([]mutant, error) {
	edits, err := edits(dir)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 26))
	r.Shuffle(len(edits), func(i, j int) { edits[i], edits[j] = edits[j], edits[i] })
	edits = edits[:min(n, len(edits))]
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.from, b.from)) })
	var all []mutant
	for _, e := range edits {
		old, err := os.ReadFile(e.file)
		if err != nil {
			return nil, err
		}
		text := slices.Concat(old[:e.from], []byte(e.text), old[e.to:])
		line := bytes.TrimSpace(bytes.Split(text, []byte("\n"))[e.position.Line-1])
		all = append(all, mutant{rule: fmt.Sprintf("%s: %s", e.what, line), where: fmt.Sprintf("%s:%d", filepath.Base(e.file), e.position.Line), file: e.file, text: text})
	}
	return all, nil
}

// edits returns all changes that can be made to a package, by file and
// position. It leaves out tests and the files of the runner.
func edits(dir string) ([]edit, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []edit
	for _, file := range files {
		base := filepath.Base(file)
		if strings.HasSuffix(base, "_test.go") || base == "run.go" || strings.HasPrefix(base, "run_") {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		add := func(pos token.Pos, length int, text, what string) {
			p := set.Position(pos)
			all = append(all, edit{file: file, position: p, from: p.Offset, to: p.Offset + length, text: text, what: what})
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if to, ok := swaps[n.Op]; ok && !textual(n) {
					add(n.OpPos, len(n.Op.String()), to, n.Op.String()+" becomes "+to)
				}
			case *ast.UnaryExpr:
				if n.Op == token.NOT {
					add(n.OpPos, 1, "", "a negation is removed")
				}
			case *ast.BranchStmt:
				if n.Tok == token.CONTINUE && n.Label == nil {
					add(n.TokPos, len("continue"), "break", "continue becomes break")
				}
			case *ast.Ident:
				if n.Name == "true" || n.Name == "false" {
					other := map[string]string{"true": "false", "false": "true"}[n.Name]
					add(n.NamePos, len(n.Name), other, n.Name+" becomes "+other)
				}
			}
			return true
		})
	}
	return all, nil
}

// textual reports whether an addition joins strings, as far as can be seen
// without types: then there is no other operator for it.
func textual(n *ast.BinaryExpr) bool {
	if n.Op != token.ADD {
		return false
	}
	text := false
	ast.Inspect(n, func(x ast.Node) bool {
		if l, ok := x.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text = true
		}
		return true
	})
	return text
}
