package check

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/semverx"
)

// bundle lints what the index holds about a bundle.
func (l *linter) bundle(b *catalog.Bundle) {
	d := b.Document()
	if _, version, ok := strings.Cut(b.Name(), "."); !ok || !strings.HasPrefix(version, "v") {
		l.add(LintBundleNaming, d, at("name"), "its name is not of the form <name>.v<version>, which people and tools expect", "name it "+b.Package().Name()+".v"+b.Version())
	}
	counts := map[string]int{}
	for i, r := range b.Document().PropertyIndex() {
		counts[r.Type]++
		l.property(b, i, r, counts[r.Type])
	}
	if counts[catalog.PropertyBundleObject] > 0 && counts[catalog.PropertyCSVMetadata] > 0 {
		l.add(LintPayload, d, at("properties"), "it has both olm.csv.metadata and olm.bundle.object, which hold the same payload", "keep olm.csv.metadata for OpenShift 4.17 and later, olm.bundle.object before")
	}
}

// property lints one property. n is its number among those of its type.
func (l *linter) property(b *catalog.Bundle, i int, r catalog.Property, n int) {
	d := b.Document()
	switch {
	case r.Type == "":
		l.add(LintProperty, d, at("properties", i), "the property has no type", "add a type, or remove the property")
	case string(r.Value) == "null":
		l.add(LintProperty, d, at("properties", i, "value"), fmt.Sprintf("the value of the property of type %q is null", r.Type), "write a value, or remove the property")
		return
	}
	switch r.Type {
	case catalog.PropertyGVK:
		l.gvk(b, i, r.Value)
	case catalog.PropertyGVKRequired:
		if gvk, ok := l.gvk(b, i, r.Value); ok {
			l.gvkRequired(b, i, gvk)
		}
	case catalog.PropertyPackageRequired:
		l.packageRequired(b, i, r.Value)
	case catalog.PropertyConstraint:
		if r.Value != nil {
			if problem := constraintProblem(r.Value, 0); problem != "" {
				l.add(LintRequirement, d, at("properties", i, "value"), "the constraint is malformed: "+problem, "give it exactly one of cel, package, gvk, all, any and not")
			}
		}
	case catalog.PropertyMaxOpenShift:
		l.maxOpenShift(b, i, r.Value, n)
	case catalog.PropertyCSVMetadata:
		if n > 1 {
			l.add(LintPayload, d, at("properties", i), "it has more than one olm.csv.metadata property", "keep one")
		}
	}
}

// gvk reports incomplete APIs. Only the group may be empty, and only for APIs
// of Kubernetes itself, which no operator provides.
func (l *linter) gvk(b *catalog.Bundle, i int, value json.RawMessage) (gvk catalog.GVK, ok bool) {
	if gvk, ok = readGVK(value); !ok {
		return gvk, false
	}
	for _, f := range []struct{ name, value string }{{"group", gvk.Group}, {"version", gvk.Version}, {"kind", gvk.Kind}} {
		if f.value == "" {
			l.add(LintAPI, b.Document(), at("properties", i, "value"), "the API has no "+f.name, "add the "+f.name)
			ok = false
		}
	}
	return gvk, ok
}

func (l *linter) gvkRequired(b *catalog.Bundle, i int, gvk catalog.GVK) {
	if !l.on[LintDependency] {
		return
	}
	for range l.c.Providers(gvk) {
		return
	}
	l.add(LintDependency, b.Document(), at("properties", i), "it requires the API "+gvk.String()+", which no bundle in the catalog provides",
		"add a bundle that provides it, or provide it by another catalog")
}

func (l *linter) packageRequired(b *catalog.Bundle, i int, value json.RawMessage) {
	var want struct {
		PackageName  string `json:"packageName"`
		VersionRange string `json:"versionRange"`
	}
	if value == nil || !fits(value, &want) {
		return
	}
	d := b.Document()
	r, err := semverx.ParseRange(want.VersionRange)
	if err != nil {
		l.add(LintRequirement, d, at("properties", i, "value", "versionRange"), fmt.Sprintf("the versionRange %q is not a range of versions: %s", want.VersionRange, rangeReason(err)), rangeHint(err))
		return
	}
	for _, text := range r.Lints() {
		l.add(LintRequirement, d, at("properties", i, "value", "versionRange"), fmt.Sprintf("the versionRange %q is suspicious: %s", want.VersionRange, text), "correct the range")
	}
	p, ok := l.c.Package(want.PackageName)
	if !ok {
		l.add(LintDependency, d, at("properties", i), fmt.Sprintf("it requires the package %q, which is not in the catalog", want.PackageName),
			"add the package, or provide it by another catalog")
		return
	}
	for other := range p.Bundles() {
		if v, err := semverx.ParseTolerant(other.Version()); err == nil && r.Contains(v) {
			return
		}
	}
	l.add(LintDependency, d, at("properties", i), fmt.Sprintf("it requires the package %q in versions %q, but the catalog has no such version", want.PackageName, want.VersionRange), "correct the range")
}

// constraintProblem says what is wrong with an olm.constraint. It checks only
// the form; whether a CEL rule compiles is left to the resolver.
func constraintProblem(value json.RawMessage, depth int) string {
	var fields map[string]json.RawMessage
	if depth > 50 {
		return "it is nested too deep"
	}
	if !fits(value, &fields) || fields == nil {
		return "it is not an object"
	}
	kinds := 0
	for _, name := range []string{"cel", "package", "gvk", "all", "any", "not"} {
		inner, ok := fields[name]
		if !ok {
			continue
		}
		kinds++
		switch name {
		case "all", "any", "not":
			var compound struct{ Constraints []json.RawMessage }
			if !fits(inner, &compound) || len(compound.Constraints) == 0 {
				return name + " has no constraints"
			}
			for _, c := range compound.Constraints {
				if problem := constraintProblem(c, depth+1); problem != "" {
					return "below " + name + ", " + problem
				}
			}
		case "cel":
			var cel struct{ Rule string }
			if !fits(inner, &cel) || cel.Rule == "" {
				return "cel has no rule"
			}
		}
	}
	delete(fields, "failureMessage")
	switch {
	case len(fields) != kinds:
		return "it has an unknown field"
	case kinds != 1:
		return fmt.Sprintf("it has %d conditions", kinds)
	}
	return ""
}

var openShiftVersion = regexp.MustCompile(`^"?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"?$`)

func (l *linter) maxOpenShift(b *catalog.Bundle, i int, value json.RawMessage, n int) {
	d := b.Document()
	switch {
	case n > 1:
		l.add(LintMaxOpenShift, d, at("properties", i), "it has more than one highest version of OpenShift", "keep one")
	case !openShiftVersion.Match(value):
		l.add(LintMaxOpenShift, d, at("properties", i, "value"), fmt.Sprintf("the highest version of OpenShift is %s, not MAJOR.MINOR", value), `write it as "4.15", in quotes`)
	case value[0] != '"':
		l.add(LintMaxOpenShift, d, at("properties", i, "value"), fmt.Sprintf("the highest version of OpenShift, %s, is a number, and as a number 4.10 would become 4.1", value), "put it in quotes")
	}
}

// readGVK reads the value of a property that names an API.
func readGVK(value json.RawMessage) (gvk catalog.GVK, ok bool) {
	ok = value != nil && fits(value, &gvk)
	return gvk, ok
}
