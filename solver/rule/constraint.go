package rule

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
)

// Constraint is an olm.constraint: a condition on a single candidate. One of
// the fields GVK, Package, CEL, All, Any and Not is set; a Constraint with none
// of them holds for nothing.
//
// A single candidate must meet all of it: all(package a, API b) requires a
// candidate of package a that also provides b.
type Constraint struct {
	FailureMessage string              // what to tell the user if it cannot be met, or ""
	GVK            *GVK                // an API that the candidate provides
	Package        *PackageRequirement // the package of the candidate, and a range of versions
	CEL            *Rule               // a rule on its properties
	All            []Constraint        // all hold; true if empty and not nil
	Any            []Constraint        // one holds; false if empty
	Not            []Constraint        // none holds; true if empty and not nil
}

// GVK names a kind of API.
type GVK struct {
	Group   string `json:"group"`   // "" for the core group
	Version string `json:"version"` // such as v1
	Kind    string `json:"kind"`    // such as Pod
}

// String returns the kind and, in parentheses, the group and version.
func (g GVK) String() string {
	if g.Group == "" {
		return fmt.Sprintf("%s (%s)", g.Kind, g.Version)
	}
	return fmt.Sprintf("%s (%s/%s)", g.Kind, g.Group, g.Version)
}

// PackageRequirement requires a package in a range of versions.
type PackageRequirement struct {
	PackageName  string `json:"packageName"`  // not empty
	VersionRange string `json:"versionRange"` // in the grammar of skipRange, such as ">=1.0.0 <2.0.0"

	parsed *semverx.Range // VersionRange, if it was already parsed
}

// holds reports whether one olm.package property has both the name and a
// version in the range.
func (r *PackageRequirement) holds(props *Properties) bool {
	versions := r.parsed
	if versions == nil {
		var err error
		if versions, err = semverx.ParseRange(r.VersionRange); err != nil {
			return false
		}
	}
	for _, p := range props.packages {
		if p.name == r.PackageName && versions.Contains(p.version) {
			return true
		}
	}
	return false
}

// Lints reports what is legal in the constraint but probably not intended, such
// as a version range that can never match. The order is that of the constraint.
func (c *Constraint) Lints() []string {
	var lints []string
	if c.Package != nil && c.Package.parsed != nil {
		for _, lint := range c.Package.parsed.Lints() {
			lints = append(lints, fmt.Sprintf("package %s, version range: %s", c.Package.PackageName, lint))
		}
	}
	for _, group := range [][]Constraint{c.All, c.Any, c.Not} {
		for i := range group {
			lints = append(lints, group[i].Lints()...)
		}
	}
	return lints
}

// Match reports whether the candidate with these properties meets the
// constraint. The error is that of the context. See [Constraint.Eval].
func (c *Constraint) Match(ctx context.Context, props *Properties) (bool, error) {
	result, err := c.Eval(ctx, props)
	return result.Match, err
}

// Holds is [Constraint.Match] for callers without a context: evaluation always
// ends, because the cost of rules is limited.
func (c *Constraint) Holds(props *Properties) bool {
	match, err := c.Match(context.Background(), props)
	return match && err == nil
}

// Eval evaluates the constraint. A rule that cannot be evaluated counts as
// false where it occurs, so that not(rule) then holds; the result reports it.
// The error is that of the context.
func (c *Constraint) Eval(ctx context.Context, props *Properties) (Result, error) {
	if props == nil {
		props = Prepare(nil)
	}
	var result Result
	match, err := c.eval(ctx, props, &result)
	if err != nil {
		return Result{}, err
	}
	result.Match = match
	return result, nil
}

func (c *Constraint) eval(ctx context.Context, props *Properties, result *Result) (bool, error) {
	switch {
	case c.GVK != nil:
		for _, gvk := range props.gvks {
			if gvk == *c.GVK {
				return true, nil
			}
		}
		return false, nil
	case c.Package != nil:
		return c.Package.holds(props), nil
	case c.CEL != nil:
		r, err := c.CEL.Eval(ctx, props)
		result.Diagnostics = append(result.Diagnostics, r.Diagnostics...)
		return r.Match, err
	case c.All != nil:
		found, err := find(ctx, c.All, props, result, false)
		return !found && err == nil, err
	case c.Any != nil:
		return find(ctx, c.Any, props, result, true)
	case c.Not != nil:
		found, err := find(ctx, c.Not, props, result, true)
		return !found && err == nil, err
	}
	return false, nil
}

// find reports whether some constraint evaluates to want.
func find(ctx context.Context, cs []Constraint, props *Properties, result *Result, want bool) (bool, error) {
	for i := range cs {
		match, err := cs[i].eval(ctx, props, result)
		if err != nil || match == want {
			return err == nil, err
		}
	}
	return false, nil
}

// String returns the constraint in words, with parentheses wherever two
// readings would be possible.
func (c *Constraint) String() string {
	var b strings.Builder
	c.write(&b, false)
	return b.String()
}

// write appends the constraint; inner says that it is part of another one.
func (c *Constraint) write(b *strings.Builder, inner bool) {
	switch {
	case c.GVK != nil:
		b.WriteString("API " + c.GVK.String())
	case c.Package != nil:
		b.WriteString("package " + c.Package.PackageName + " in " + c.Package.VersionRange)
	case c.CEL != nil:
		b.WriteString("rule {" + strings.Join(strings.Fields(c.CEL.String()), " ") + "}")
	case c.All != nil:
		writeGroup(b, c.All, " and ", "anything", inner)
	case c.Any != nil:
		writeGroup(b, c.Any, " or ", "nothing", inner)
	case len(c.Not) > 0:
		b.WriteString("not ")
		writeGroup(b, c.Not, " or ", "", true)
	case c.Not != nil:
		b.WriteString("anything")
	default:
		b.WriteString("nothing")
	}
}

func writeGroup(b *strings.Builder, cs []Constraint, joint, none string, inner bool) {
	if len(cs) == 0 {
		b.WriteString(none)
		return
	}
	parens := inner && len(cs) > 1
	if parens {
		b.WriteByte('(')
	}
	for i := range cs {
		if i > 0 {
			b.WriteString(joint)
		}
		cs[i].write(b, inner || len(cs) > 1)
	}
	if parens {
		b.WriteByte(')')
	}
}
