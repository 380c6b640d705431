package opam

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/bench/debian"
)

// A truth is the value of a filter.
type truth int8

const (
	unknown truth = iota // of a variable that is not defined
	yes
	no
)

// world is where packages are to be installed; other variables are not defined.
// Tests, documentation and developer tools are not requested.
var world = map[string]string{
	"os": "linux", "os-family": "debian", "os-distribution": "debian", "os-version": "12", "arch": "x86_64",
	"opam-version": "2.4.1", "build": "true", "post": "true", "with-test": "false", "with-doc": "false",
	"with-dev-setup": "false", "dev": "false", "true": "true", "false": "false",
}

// A reading reads the formulas of one package.
type reading struct{ version string }

// text returns the value of a text or a variable.
func (r reading) text(n *node) (string, bool) {
	if n.kind == "text" {
		return strings.NewReplacer("%{version}%", r.version).Replace(n.text), true
	}
	if n.text == "version" || n.text == "_:version" {
		return r.version, true
	}
	value, ok := world[n.text]
	return value, ok
}

func of(b bool) truth {
	if b {
		return yes
	}
	return no
}

// filter evaluates a condition that does not mention a version.
func (r reading) filter(n *node) truth {
	switch n.kind {
	case "&", "|":
		ends, found := no, yes
		if n.kind == "|" {
			ends, found = yes, no
		}
		for _, part := range n.parts {
			switch t := r.filter(part); {
			case t == ends:
				return ends
			case t == unknown:
				found = unknown
			}
		}
		return found
	case "!":
		switch r.filter(n.parts[0]) {
		case yes:
			return no
		case no:
			return yes
		}
		return unknown
	case "?":
		return of(r.filter(n.parts[0]) != unknown)
	case "text", "word":
		value, ok := r.text(n)
		switch {
		case !ok || value != "true" && value != "false":
			return unknown
		}
		return of(value == "true")
	}
	if len(n.parts) != 2 {
		return unknown
	}
	a, ok := r.text(n.parts[0])
	b, known := r.text(n.parts[1])
	if !ok || !known {
		return unknown
	}
	return of(holds(n.kind, debian.CompareRuns(a, b)))
}

// holds reports whether the result of a comparison satisfies the relation.
func holds(relation string, c int) bool {
	switch relation {
	case "=":
		return c == 0
	case "!=":
		return c != 0
	case ">=":
		return c >= 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c < 0
}

// versioned reports whether the condition constrains the version of what is needed.
func versioned(n *node) bool {
	switch n.kind {
	case "=", "!=", ">=", "<=", ">", "<":
		return len(n.parts) == 1
	}
	return slices.ContainsFunc(n.parts, versioned)
}

// An atom is a package in some versions.
type atom struct {
	name string
	met  func(version string) bool // nil: any
}

// condition reads what is in braces after a package: the versions, and whether the
// package is needed at all.
func (r reading) condition(n *node) (met func(string) bool, asked bool) {
	if !versioned(n) {
		return nil, r.filter(n) == yes
	}
	switch n.kind {
	case "&", "|":
		var all []func(string) bool
		any := n.kind == "|"
		for _, part := range n.parts {
			met, asked := r.condition(part)
			switch {
			case asked && met == nil && any:
				return nil, true
			case !asked && !any:
				return nil, false
			case asked && met != nil:
				all = append(all, met)
			}
		}
		if len(all) == 0 {
			return nil, !any
		}
		return func(v string) bool {
			return slices.ContainsFunc(all, func(met func(string) bool) bool { return met(v) == any }) == any
		}, true
	case "!":
		met, _ := r.condition(n.parts[0])
		return func(v string) bool { return met == nil || !met(v) }, true
	}
	want, ok := r.text(n.parts[0])
	return func(v string) bool { return holds(n.kind, debian.CompareRuns(v, want)) }, ok
}

// A clause is met by any of its atoms.
type clause []atom

// clauses reads a formula: all of the clauses must be met. What is not needed requires
// nothing, and is not an alternative.
func (r reading) clauses(n *node) []clause {
	switch n.kind {
	case "text":
		return []clause{{{name: n.text}}}
	case "option":
		if len(n.parts) == 1 {
			return r.clauses(n.parts[0])
		}
		met, asked := r.condition(n.parts[1])
		if !asked {
			return nil
		}
		all := r.clauses(n.parts[0])
		for _, c := range all {
			for i := range c {
				c[i].met = met
			}
		}
		return all
	case "list", "&":
		var all []clause
		for _, part := range n.parts {
			all = append(all, r.clauses(part)...)
		}
		return all
	case "|":
		var all []clause
		for _, part := range n.parts {
			own := r.clauses(part)
			switch {
			case own == nil:
			case all == nil:
				all = own
			default:
				var both []clause
				for _, a := range all {
					for _, b := range own {
						both = append(both, slices.Concat(a, b))
					}
				}
				all = both
			}
		}
		return all
	}
	return nil
}

// atoms returns all that a list, or a formula, names.
func (r reading) atoms(n *node) []atom {
	var all []atom
	for _, c := range r.clauses(n) {
		all = append(all, c...)
	}
	return all
}
