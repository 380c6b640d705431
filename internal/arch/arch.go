// Package arch states the house rules of the module as tests: which package
// may import which, what the deterministic cores may touch, what the module
// may require, what its exported surface may show and how large its pieces
// may grow.
//
// The tables in policy.go contain what the rules say about this module. Each
// check is in the file named for its subject. The package reads source text
// only: it builds nothing, runs nothing, and looks at every file whatever its
// build constraints say.
//
// Do not loosen a rule just to get a build through. If one is in the way,
// either the code needs another shape or the design has changed; in the second
// case, change docs/design.md first, and the table with it.
//
// Only this package's own tests use it.
package arch

import (
	"cmp"
	"fmt"
	"slices"
)

// Finding is one place where a rule is broken.
type Finding struct {
	File    string // slash-separated path below the root of the tree
	Line    int    // from 1; 0 for the whole file or directory
	Message string // what is wrong and how to fix it
}

// String formats the finding as file:line: message.
func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.File, f.Message)
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
}

// Rule is one house rule.
type Rule struct {
	Name string // short, for test names
	// Check returns every place in the tree where the rule is broken, in any
	// order.
	Check func(*Tree) []Finding
}

// Rules lists every rule, those about the shape of the module first.
func Rules() []Rule {
	return []Rule{
		{"import-arrows", importArrows},
		{"foreign-imports", foreignImports},
		{"dot-imports", dotImports},
		{"core-clock", coreClock},
		{"runner-clock", runnerClock},
		{"core-imports", coreImports},
		{"core-effects", coreEffects},
		{"requirements", requirements},
		{"go-line", goLine},
		{"foreign-surface", foreignSurface},
		{"documented", documented},
		{"package-comment", packageComment},
		{"doc-links", docLinks},
		{"examples", examples},
		{"interface-size", interfaceSize},
		{"package-state", packageState},
		{"package-name", packageName},
		{"file-size", fileSize},
		{"function-size", functionSize},
		{"unfinished", unfinished},
		{"machine-path", machinePath},
		{"plain-words", plainWords},
		{"one-domain", oneDomain},
		{"commands", commands},
		{"directories", directories},
		{"sinks", oneWay},
		{"readme-size", readmeSize},
		{"snippets", snippets},
		{"links", links},
	}
}

// Run checks one rule and returns its findings sorted by file, line and
// message, each once.
func Run(r Rule, t *Tree) []Finding {
	found := r.Check(t)
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(found)
}
