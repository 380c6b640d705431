package arch

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// sink is one way by which text leaves the tool, and what may use it.
type sink struct {
	uses func(pkg, name string) bool // what a file refers to
	text *regexp.Regexp              // or the text of a literal
	may  []string                    // files and directories
	why  string
}

// sinks are the ways out: text that others wrote has one way to each, which makes it harmless.
var sinks = []sink{
	{
		uses: func(pkg, name string) bool {
			return pkg == "os" && (name == "Stdout" || name == "Stderr") || pkg == "log" || pkg == "log/slog" && name == "Default"
		},
		may: []string{"examples/internal/args/main.go", "examples/internal/live/main.go", "examples/quickstart", "internal/mutate", "cvo/testdata"},
		why: "writes to the terminal beside the boundary of examples/internal/args: use the outputs of the call",
	},
	{
		uses: func(pkg, _ string) bool { return pkg == "html/template" || pkg == "text/template" },
		may:  []string{"examples/internal/report/html.go", "catalog/bundle/render.go", "catalog/source/dockerfile.go"}, // YAML by the bundle's own template; a Dockerfile is read
		why:  "writes a document by a template: pages are made in examples/internal/report/html.go, which says what is trusted",
	},
	{
		text: regexp.MustCompile(`(?i)<(?:!doctype|html|script|body|div)\b`),
		may:  []string{"examples/internal/report/html.go"},
		why:  "contains HTML: pages are made of templates, which escape",
	},
	{
		text: regexp.MustCompile(`<(?:svg|text|path|rect)\b|^digraph |^(?:flowchart|graph) (?:TD|TB|LR|RL)\b|^(?:gantt|stateDiagram)`),
		may:  []string{"internal/diagram", "catalog/draw/svg.go", "taints/whatif/svg.go", "examples/internal/report/html.go"}, // lanes, escaped on the spot; bars of numbers
		why:  "draws by itself: use internal/diagram, which escapes labels",
	},
	{
		text: regexp.MustCompile("^#{1,6} %|^```|\\*\\*%|\\]\\(%|^\\| %"),
		may:  []string{"internal/markdown", "internal/bench", "cvo/snapshot/between.go"}, // tables of our own figures; a fence in a dump is read
		why:  "formats a value into Markdown: use internal/markdown, which escapes",
	},
	{
		text: regexp.MustCompile(`#!/bin/|\bcompgen\b|^#compdef`),
		may:  []string{"cvo/plan/script.go", "examples/internal/args/complete.go"},
		why:  "writes a program for a shell: words are quoted by internal/shell, candidates checked by examples/internal/args",
	},
	{
		text: regexp.MustCompile(`^::(?:error|warning|notice|group|set-output|add-mask)|##vso\[|##teamcity\[`),
		may:  []string{"examples/internal/args/boundary.go"},
		why:  "writes a command to a CI job: no text of the tool is one",
	},
}

// oneWay checks that each sink is written to by its one way alone.
func oneWay(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Go {
		if f.Test || f.Nested || f.Dir == "internal/arch" {
			continue
		}
		for i := range sinks {
			if s := &sinks[i]; !s.allows(f.Path) {
				found = append(found, s.misuses(t, f)...)
			}
		}
	}
	return found
}

func (s *sink) allows(path string) bool {
	for _, p := range s.may {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}

func (s *sink) misuses(t *Tree, f *File) []Finding {
	var found []Finding
	if s.uses != nil {
		for sel, pkg := range selections(f) {
			if s.uses(pkg, sel.Sel.Name) {
				found = append(found, t.at(f, sel, "%s", s.why))
			}
		}
		return found
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && s.text.MatchString(text(lit)) {
			found = append(found, t.at(f, lit, "%s", s.why))
		}
		return true
	})
	return found
}
