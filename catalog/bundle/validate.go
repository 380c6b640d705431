package bundle

import (
	"slices"

	"github.com/fairlead/fairlead/catalog"
)

// ValidateOptions say which rules apply in addition to those of catalog tools.
// Nil is the zero value.
type ValidateOptions struct {
	// V1 adds the rules of OLM v1 (its operator-controller), which rejects
	// bundles that OLM v0 accepts.
	V1 bool
	// KubeVersion is the version of Kubernetes that the bundle is to run on,
	// such as "1.31": APIs that it no longer has are faults. Without it the
	// CSV's minKubeVersion is used.
	KubeVersion string
	// CompileRule, if set, is given the CEL rule of every constraint; its
	// error is what is wrong with the rule. Compile of package solver/rule is
	// one such function.
	CompileRule func(rule string) error
}

// Validate returns everything that is wrong with the bundle: what Read could
// not use, and what breaks a rule for bundles; nil if nothing is.
// [Bundle.Lint] gives advice that no tool enforces.
//
// The rules are those of registries, of opm alpha bundle validate and,
// optionally, of OLM v1. All of them are checked in one pass; each finding has
// a position, a code and a hint. Files near the size limit are compressed,
// which costs time; otherwise it is fast.
func (b *Bundle) Validate(opts *ValidateOptions) catalog.Diagnostics {
	return b.faults(opts).sorted(func(f finding) bool { return !f.lint })
}

// Unread returns what Read could not use, and what catalog tools silently
// leave out when they render: a malformed dependencies.yaml, documents after
// the first in a file. These are the findings of [Bundle.Validate] that say
// what a rendering lacks.
func (b *Bundle) Unread() catalog.Diagnostics {
	return b.found.sorted(func(f finding) bool { return !f.lint })
}

// Lint returns advice: what is legal but likely unintended, what OperatorHub
// and good practice ask for, and what annotations claim but the bundle lacks.
func (b *Bundle) Lint(opts *ValidateOptions) catalog.Diagnostics {
	c := newChecker(b, opts)
	c.run(rules)
	c.run(lints)
	return append(slices.Clone(b.found), c.found...).sorted(func(f finding) bool { return f.lint })
}

func (b *Bundle) faults(opts *ValidateOptions) findings {
	c := newChecker(b, opts)
	c.run(rules)
	return append(slices.Clone(b.found), c.found...)
}

// checker checks rules.
type checker struct {
	b     *Bundle
	opts  ValidateOptions
	hub   bool // OperatorHub's requirements are faults
	found findings
}

func newChecker(b *Bundle, opts *ValidateOptions) *checker {
	c := &checker{b: b}
	if opts != nil {
		c.opts = *opts
	}
	return c
}

// stopping returns the findings, including those that keep the bundle from
// being rendered.
func (b *Bundle) stopping() findings {
	c := newChecker(b, nil)
	c.run(slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return !r.stops }))
	return append(slices.Clone(b.found), c.found...)
}

// rule is a group of rules about one thing. Those about the CSV are skipped if
// there is none.
type rule struct {
	csv, v1 bool
	stops   bool // some of its findings keep the bundle from being rendered
	check   func(*checker)
}

var rules = []rule{
	{stops: true, check: (*checker).annotations},
	{stops: true, check: (*checker).dependencies},
	{stops: true, check: (*checker).properties},
	{check: (*checker).objects},
	{check: (*checker).accounts},
	{check: (*checker).crds},
	{check: (*checker).size},
	{check: (*checker).truths},
	{csv: true, stops: true, check: (*checker).annotatedProperties},
	{csv: true, check: (*checker).csvNames},
	{csv: true, check: (*checker).csvFields},
	{csv: true, check: (*checker).csvVersions},
	{csv: true, check: (*checker).csvAnnotations},
	{csv: true, check: (*checker).examples},
	{csv: true, check: (*checker).installModes},
	{csv: true, check: (*checker).images},
	{csv: true, stops: true, check: (*checker).apis},
	{csv: true, check: (*checker).containers},
	{csv: true, check: (*checker).quantities},
	{csv: true, check: (*checker).removedAPIs},
	{csv: true, v1: true, check: (*checker).v1Files},
	{csv: true, v1: true, check: (*checker).v1Deployments},
	{csv: true, v1: true, check: (*checker).v1Webhooks},
	{csv: true, v1: true, check: (*checker).v1Conversions},
}

func (c *checker) run(rules []rule) {
	for _, r := range rules {
		if (!r.csv || c.b.CSV != nil) && (!r.v1 || c.opts.V1) {
			r.check(c)
		}
	}
}

// csvFault adds a fault of the CSV at a path in it.
func (c *checker) csvFault(code catalog.Code, message, hint string, path ...any) *finding {
	m := c.b.CSV.manifest
	return c.found.fault(code, m.At(path...), m.subject(), message, hint)
}

// csvAdvice adds advice about the CSV at a path in it.
func (c *checker) csvAdvice(code catalog.Code, message, hint string, path ...any) {
	c.csvFault(code, message, hint, path...).lint = true
}
