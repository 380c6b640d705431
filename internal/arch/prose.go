package arch

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"strings"
)

// maxReadmeLines limits how much a newcomer has to read.
const maxReadmeLines = 150

// readmeSize checks that the README can be read in one sitting.
func readmeSize(t *Tree) []Finding {
	var found []Finding
	for _, text := range t.Text {
		if lines := strings.Count(text.Data, "\n"); text.Path == "README.md" && lines > maxReadmeLines {
			found = append(found, Finding{text.Path, 0, fmt.Sprintf("has %d lines, more than %d: move detail to docs", lines, maxReadmeLines)})
		}
	}
	return found
}

// snippets checks that Go code in Markdown is the body of an Example, so that
// it compiles and does what the text says.
func snippets(t *Tree) []Finding {
	examples := map[string]bool{}
	for _, f := range t.Go {
		if f.Test {
			for _, body := range exampleBodies(t, f) {
				examples[body] = true
			}
		}
	}
	var found []Finding
	for _, text := range t.Text {
		if !strings.HasSuffix(text.Path, ".md") || inTestdata(text.Path) {
			continue
		}
		for line, code := range fences(text.Data) {
			if !examples[normal(code)] {
				found = append(found, Finding{text.Path, line, "Go code that is not the body of an Example: copy it from one, so that it is known to work"})
			}
		}
	}
	return found
}

// link is the target of a Markdown link.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// links checks that the targets of Markdown links within the tree exist.
func links(t *Tree) []Finding {
	there := map[string]bool{}
	for _, text := range t.Text {
		for name := text.Path; name != "."; name = path.Dir(name) {
			there[name] = true
		}
	}
	var found []Finding
	for _, text := range t.Text {
		if !strings.HasSuffix(text.Path, ".md") || inTestdata(text.Path) {
			continue
		}
		for _, at := range link.FindAllStringSubmatchIndex(text.Data, -1) {
			target, _, _ := strings.Cut(text.Data[at[2]:at[3]], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if !there[path.Join(path.Dir(text.Path), target)] {
				line := 1 + strings.Count(text.Data[:at[2]], "\n")
				found = append(found, Finding{text.Path, line, fmt.Sprintf("links to %s, which does not exist", target)})
			}
		}
	}
	return found
}

// exampleBodies returns the code of the file's Examples without the expected
// output.
func exampleBodies(t *Tree, f *File) []string {
	var bodies []string
	for _, decl := range f.AST.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || d.Recv != nil || !strings.HasPrefix(d.Name.Name, "Example") || d.Body == nil {
			continue
		}
		from, to := t.fset.Position(d.Body.Lbrace).Offset+1, t.fset.Position(d.Body.Rbrace).Offset
		for _, text := range t.Text {
			if text.Path == f.Path {
				code, _, _ := strings.Cut(text.Data[from:to], "// Output:")
				code, _, _ = strings.Cut(code, "// Unordered output:")
				bodies = append(bodies, normal(code))
			}
		}
	}
	return bodies
}

// fences returns the Go code blocks of a Markdown text by the line where each
// begins.
func fences(markdown string) map[int]string {
	found := map[int]string{}
	begin, line := 0, 0
	for text := range strings.Lines(markdown) {
		line++
		mark := strings.TrimSpace(text)
		switch {
		case begin == 0 && mark == "```go":
			begin = line
			found[begin] = ""
		case begin != 0 && mark == "```":
			begin = 0
		case begin != 0:
			found[begin] += text
		}
	}
	return found
}

// normal returns code without indentation and blank lines around it.
func normal(code string) string {
	var out strings.Builder
	for line := range strings.Lines(code) {
		out.WriteString(strings.TrimSpace(line) + "\n")
	}
	return strings.TrimSpace(out.String())
}
