package resolution

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/api/pkg/constraints"
	registry "github.com/operator-framework/operator-registry/pkg/registry"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm"
)

// operator is a bundle as one channel of one catalog offers it, or an installed
// CSV.
type operator struct {
	*facts
	source  *olm.Source // nil if installed
	pkg     string
	channel string
	entry   catalog.Entry
}

// key identifies an operator for users: a bundle that two channels offer is one.
type key struct {
	source    olm.SourceKey
	pkg, name string
}

func (o *operator) key() key {
	if o.source == nil {
		return key{pkg: o.pkg, name: o.entry.Name}
	}
	return key{o.source.SourceKey, o.pkg, o.entry.Name}
}

// String names the operator as messages do.
func (o *operator) String() string {
	if o.source == nil {
		return o.entry.Name + " (installed)"
	}
	return fmt.Sprintf("%s/%s/%s from %s", o.pkg, o.channel, o.entry.Name, o.source.SourceKey)
}

// facts is what the properties of an operator state. It is decoded by the libraries
// that OLM itself uses.
type facts struct {
	version    *semver.Version // read tolerantly; nil if there is none
	packages   []registry.PackageProperty
	apis       []registry.GVKProperty
	labels     []string
	needs      []*need
	deprecated bool
	properties []map[string]any // as CEL rules see them
}

// need is a requirement: a predicate over one operator.
type need struct {
	text  string
	metBy func(o *operator) bool
}

// reader decodes properties. Needs with the same text are the same need.
type reader struct {
	cel   *constraints.CelEnvironment
	needs map[string]*need
}

func newReader() *reader {
	return &reader{cel: constraints.NewCelEnvironment(), needs: make(map[string]*need)}
}

func (r *reader) facts(version string, properties []catalog.Property) (*facts, error) {
	f := &facts{}
	if v, err := semver.ParseTolerant(version); err == nil {
		f.version = &v
	}
	for _, p := range properties {
		var value any
		if err := json.Unmarshal(p.Value, &value); err != nil {
			return nil, fmt.Errorf("property %s: %w", p.Type, err)
		}
		f.properties = append(f.properties, map[string]any{"type": p.Type, "value": value})
		if err := r.read(f, p); err != nil {
			return nil, fmt.Errorf("property %s %s: %w", p.Type, p.Value, err)
		}
	}
	return f, nil
}

func (r *reader) read(f *facts, p catalog.Property) error {
	switch p.Type {
	case registry.PackageType:
		return decodeTo(&f.packages, p.Value)
	case registry.GVKType:
		return decodeTo(&f.apis, p.Value)
	case registry.LabelType:
		var labels []registry.LabelProperty
		err := decodeTo(&labels, p.Value)
		for _, l := range labels {
			f.labels = append(f.labels, l.Label)
		}
		return err
	case registry.DeprecatedType:
		f.deprecated = true
		return nil
	}
	text := p.Type + " " + string(p.Value)
	if known := r.needs[text]; known != nil {
		f.needs = append(f.needs, known)
		return nil
	}
	metBy, err := r.predicate(p)
	if err == nil && metBy != nil {
		r.needs[text] = &need{text, metBy}
		f.needs = append(f.needs, r.needs[text])
	}
	return err
}

// decodeTo appends a value to a list.
func decodeTo[T any](list *[]T, value json.RawMessage) error {
	var v T
	err := json.Unmarshal(value, &v)
	*list = append(*list, v)
	return err
}

// predicate reads a required property; it returns nil for other types.
func (r *reader) predicate(p catalog.Property) (func(*operator) bool, error) {
	var c constraints.Constraint
	switch p.Type {
	case "olm.gvk.required":
		c.GVK = &constraints.GVKConstraint{}
		if err := json.Unmarshal(p.Value, c.GVK); err != nil {
			return nil, err
		}
	case "olm.package.required":
		c.Package = &constraints.PackageConstraint{}
		if err := json.Unmarshal(p.Value, c.Package); err != nil {
			return nil, err
		}
	case "olm.label.required":
		var l registry.LabelProperty
		err := json.Unmarshal(p.Value, &l)
		return func(o *operator) bool { return slices.Contains(o.labels, l.Label) }, err
	case constraints.OLMConstraintType:
		var err error
		if c, err = constraints.Parse(p.Value); err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	return r.constraint(&c)
}

func (r *reader) constraint(c *constraints.Constraint) (func(*operator) bool, error) {
	switch {
	case c.GVK != nil:
		want := registry.GVKProperty{Group: c.GVK.Group, Version: c.GVK.Version, Kind: c.GVK.Kind}
		return func(o *operator) bool { return slices.Contains(o.apis, want) }, nil
	case c.Package != nil:
		versions, err := semver.ParseRange(c.Package.VersionRange)
		return func(o *operator) bool { return o.isOf(c.Package.PackageName) && o.hasVersion(versions) }, err
	case c.Cel != nil:
		program, err := r.cel.Validate(c.Cel.Rule)
		return func(o *operator) bool {
			ok, err := program.Evaluate(map[string]any{constraints.PropertiesKey: o.properties})
			return ok && err == nil
		}, err
	case c.All != nil:
		parts, err := r.parts(c.All)
		return func(o *operator) bool {
			return !slices.ContainsFunc(parts, func(part func(*operator) bool) bool { return !part(o) })
		}, err
	case c.Any != nil:
		parts, err := r.parts(c.Any)
		return func(o *operator) bool {
			return slices.ContainsFunc(parts, func(part func(*operator) bool) bool { return part(o) })
		}, err
	case c.Not != nil:
		parts, err := r.parts(c.Not)
		return func(o *operator) bool {
			return !slices.ContainsFunc(parts, func(part func(*operator) bool) bool { return part(o) })
		}, err
	}
	return nil, fmt.Errorf("the constraint is empty")
}

func (r *reader) parts(c *constraints.CompoundConstraint) ([]func(*operator) bool, error) {
	var parts []func(*operator) bool
	for i := range c.Constraints {
		part, err := r.constraint(&c.Constraints[i])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func (o *operator) isOf(pkg string) bool {
	return o.pkg == pkg || slices.ContainsFunc(o.packages, func(p registry.PackageProperty) bool { return p.PackageName == pkg })
}

func (o *operator) hasVersion(versions semver.Range) bool {
	for _, p := range o.packages {
		if v, err := semver.Parse(p.Version); err == nil && versions(v) {
			return true
		}
	}
	return o.version != nil && versions(*o.version)
}
