package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/internal/doc"
)

// The annotations of a CSV that catalogs read.
const (
	annotationProperties     = "olm.properties"
	annotationSkipRange      = "olm.skipRange"
	annotationSubstitutesFor = "olm.substitutesFor"
)

// The types of properties that only bundles have.
const propertyLabel = "olm.label"

// packageProperty is the value of an olm.package property.
type packageProperty struct {
	PackageName string `json:"packageName"`
	Version     string `json:"version"`
	Release     string `json:"release,omitzero"`
}

// packageRequired is the value of an olm.package.required property.
type packageRequired struct {
	PackageName  string `json:"packageName"`
	VersionRange string `json:"versionRange"`
}

// gvkProperty is the value of olm.gvk and olm.gvk.required properties, in the
// order in which they are written.
type gvkProperty struct {
	Group   string `json:"group"`
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

func gvkOf(a api) gvkProperty { return gvkProperty{a.Group, a.Kind, a.Version} }

// releaseText returns the text of a release: a string, or a number in its
// shortest form.
func releaseText(raw json.RawMessage) (text, fault string) {
	v := doc.Tree(raw)
	switch {
	case v.Null():
		return "", ""
	case v.Kind == '"':
		text, _ = v.Text()
		return text, ""
	case v.Kind == '0':
		f, err := strconv.ParseFloat(string(v.Raw), 64)
		if err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<63 {
			return strconv.FormatInt(int64(f), 10), ""
		}
		if err == nil {
			return strconv.FormatFloat(f, 'g', -1, 64), ""
		}
	}
	return "", "is " + v.Describe() + ", and neither a string nor a number"
}

// provided returns the APIs that the bundle provides: those of its CRDs and of
// the API services that the CSV owns.
func (b *Bundle) provided() []api {
	var all []api
	for _, crd := range b.CRDs {
		all = append(all, crd.apis()...)
	}
	for _, s := range b.CSV.Spec.APIServices.Owned {
		all = append(all, api{catalog.GVK{Group: s.Group, Version: s.Version, Kind: s.Kind}, s.Name})
	}
	return all
}

// required returns the APIs that the CSV requires.
func (b *Bundle) required() []api {
	var all []api
	for _, d := range b.CSV.Spec.CRDs.Required {
		plural, group, _ := splitCRDName(d.Name)
		all = append(all, api{catalog.GVK{Group: group, Version: d.Version, Kind: d.Kind}, plural})
	}
	for _, s := range b.CSV.Spec.APIServices.Required {
		all = append(all, api{catalog.GVK{Group: s.Group, Version: s.Version, Kind: s.Kind}, s.Name})
	}
	return all
}

// annotated returns the properties that the CSV holds in an annotation. fault
// is what is wrong with it: then the reference returns none, or those before
// the fault.
func (b *Bundle) annotated() (props []catalog.Property, fault string) {
	text, ok := b.CSV.Metadata.Annotations[annotationProperties]
	if !ok {
		return nil, ""
	}
	if json.Unmarshal([]byte(text), &props) != nil {
		var form []entry
		fault = embedded(text, &form)
	}
	return props, fault
}

// embedded says what is wrong with JSON within a string, and where in it. into
// has the type that the JSON should have.
func embedded(text string, into any) string {
	o, err := doc.Parse([]byte(text), doc.Limits{})
	if err != nil {
		d := catalog.Diagnose(err)
		return fmt.Sprintf("in line %d, column %d of it %s", d.Pos.Line, d.Pos.Column, d.Message)
	}
	for _, m := range doc.Decode(doc.Tree(o.JSON), into, 0) {
		return m.Error()
	}
	return "it is malformed"
}

// stated returns the properties that the bundle states, before any API is
// added: those of properties.yaml, the package, those of the CSV's annotation.
func (b *Bundle) stated() []catalog.Property {
	var all []catalog.Property
	for _, p := range b.Properties {
		all = append(all, p.Property)
	}
	if b.Package() != "" {
		value := marshal(packageProperty{b.Package(), b.Version(), b.Release()})
		all = append(all, catalog.Property{Type: catalog.PropertyPackage, Value: value})
	}
	annotated, _ := b.annotated()
	return unique(append(all, annotated...))
}

// unique drops duplicates, by type and text of the value.
func unique(props []catalog.Property) []catalog.Property {
	seen := make(map[string]bool, len(props))
	return slices.DeleteFunc(props, func(p catalog.Property) bool {
		key := p.Type + "\x00" + string(p.Value)
		dup := seen[key]
		seen[key] = true
		return dup
	})
}

// synthesis collects the properties of a rendered bundle.
type synthesis struct {
	pkg                *packageProperty // the last one stated
	first              *packageProperty // the first one stated
	provided, required map[gvkProperty]bool
	props              []catalog.Property
}

// synthesize returns the properties that the bundle has in a catalog, without
// the payload, sorted by type and value:
//
//  1. the olm.package property: the last one that is stated, in the order
//     properties.yaml, annotations and version, CSV annotation olm.properties;
//  2. an olm.gvk for every version of every CRD, for every API service owned
//     and every olm.gvk stated, each once;
//  3. an olm.gvk.required for every API that the CSV or a dependency requires,
//     each once;
//  4. dependencies on packages as olm.package.required, other dependencies and
//     properties as they are.
func (b *Bundle) synthesize() (*synthesis, error) {
	s := &synthesis{provided: map[gvkProperty]bool{}, required: map[gvkProperty]bool{}}
	for i, p := range b.stated() {
		if err := s.property(p); err != nil {
			return nil, fmt.Errorf("property %d of type %q: %w", i, p.Type, err)
		}
	}
	for i, p := range b.Dependencies {
		if err := s.dependency(p.Property); err != nil {
			return nil, fmt.Errorf("dependency %d of type %q: %w", i, p.Type, err)
		}
	}
	for _, a := range b.provided() {
		s.provided[gvkOf(a)] = true
	}
	for _, a := range b.required() {
		s.required[gvkOf(a)] = true
	}
	if s.pkg == nil {
		s.pkg = &packageProperty{b.Package(), b.Version(), b.Release()}
	}
	s.add(catalog.PropertyPackage, *s.pkg)
	for gvk := range s.provided {
		s.add(catalog.PropertyGVK, gvk)
	}
	for gvk := range s.required {
		s.add(catalog.PropertyGVKRequired, gvk)
	}
	slices.SortFunc(s.props, func(a, b catalog.Property) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), bytes.Compare(a.Value, b.Value))
	})
	return s, nil
}

func (s *synthesis) add(typ string, value any) {
	s.props = append(s.props, catalog.Property{Type: typ, Value: marshal(value)})
}

func (s *synthesis) property(p catalog.Property) error {
	switch p.Type {
	case catalog.PropertyGVK:
		var gvk gvkProperty
		if err := json.Unmarshal(p.Value, &gvk); err != nil {
			return err
		}
		s.provided[gvk] = true
	case catalog.PropertyPackage:
		s.pkg = new(packageProperty)
		if err := json.Unmarshal(p.Value, s.pkg); err != nil {
			return err
		}
		if s.first == nil {
			s.first = s.pkg
		}
	default:
		s.props = append(s.props, p)
	}
	return nil
}

func (s *synthesis) dependency(p catalog.Property) error {
	switch p.Type {
	case catalog.PropertyGVK:
		var gvk gvkProperty
		if err := json.Unmarshal(p.Value, &gvk); err != nil {
			return err
		}
		s.required[gvk] = true
	case catalog.PropertyPackage:
		var pkg packageProperty
		if err := json.Unmarshal(p.Value, &pkg); err != nil {
			return err
		}
		s.add(catalog.PropertyPackageRequired, packageRequired{pkg.PackageName, pkg.Version})
	default:
		s.props = append(s.props, p)
	}
	return nil
}
