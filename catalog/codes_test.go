package catalog_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/catalog/check"
)

// codeInfo is a constant of type Code.
type codeInfo struct{ name, code, meaning string }

// codesIn reads the constants of type Code of a package from its source, with
// the comments beside them.
func codesIn(t *testing.T, dir string) []codeInfo {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var list []codeInfo
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				v := spec.(*ast.ValueSpec)
				if isCode(v.Type) && len(v.Values) == 1 {
					code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					list = append(list, codeInfo{v.Names[0].Name, code, comment(v)})
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b codeInfo) int { return cmp.Compare(a.code, b.code) })
	return list
}

func isCode(e ast.Expr) bool {
	if s, ok := e.(*ast.SelectorExpr); ok {
		e = s.Sel
	}
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "Code"
}

func comment(v *ast.ValueSpec) string {
	text := v.Comment.Text()
	if text == "" {
		text = v.Doc.Text()
	}
	return strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(text, "\n", " ")), "|", "\\|")
}

// TestCodes keeps docs/diagnostics.md, the index of all codes, as the source
// has it. Run with -update to write it.
func TestCodes(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Codes of findings\n\nAll codes of findings and errors. Codes are stable, so scripts may compare them. This index is generated from\nthe source: `go test ./catalog -run TestCodes -update`.\n")
	seen := map[string]string{}
	for _, dir := range []string{"internal/doc", "catalog", "catalog/check", "catalog/release", "catalog/bundle", "catalog/template", "cvo/graph", "cvo/payload"} {
		codes := codesIn(t, filepath.Join("..", filepath.FromSlash(dir)))
		if len(codes) == 0 {
			continue
		}
		title := "Package " + dir
		if dir == "internal/doc" {
			title = "Documents of all kinds: constants of package catalog"
		}
		fmt.Fprintf(&b, "\n## %s\n\n| code | constant | meaning |\n| --- | --- | --- |\n", title)
		for _, c := range codes {
			if c.meaning == "" {
				t.Errorf("%s: %s has no comment that says what it means", dir, c.name)
			}
			if other := seen[c.code]; other != "" {
				t.Errorf("%s and %s.%s are both %q", other, filepath.Base(dir), c.name, c.code)
			}
			seen[c.code] = filepath.Base(dir) + "." + c.name
			level := ""
			if strings.HasPrefix(c.name, "Lint") {
				level = "warning: "
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %s%s |\n", c.code, c.name, level, c.meaning)
		}
	}
	path := filepath.Join("..", "docs", "diagnostics.md")
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != b.String() {
		t.Errorf("docs/diagnostics.md is not what the source says (%v): run with -update", err)
	}
	for _, code := range check.Lints() {
		if !strings.Contains(seen[string(code)], ".Lint") {
			t.Errorf("Lints has %s, which is no constant Lint...", code)
		}
	}
	for code, name := range seen {
		if strings.HasPrefix(name, "check.Lint") && !slices.Contains(check.Lints(), catalog.Code(code)) {
			t.Errorf("Lints lacks %s", code)
		}
	}
	if !slices.IsSorted(check.Lints()) {
		t.Errorf("Lints is not sorted: %v", check.Lints())
	}
}
