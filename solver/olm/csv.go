package olm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// InstalledFrom returns the CSV that results from installing a bundle in a
// namespace: it has the bundle's version and, in PropertiesAnnotation, its
// properties.
func InstalledFrom(b *catalog.Bundle, namespace string) (ClusterServiceVersion, error) {
	props, err := b.Facts()
	if err != nil {
		return ClusterServiceVersion{}, fmt.Errorf("bundle %s: %w", b.Name(), err)
	}
	note, err := FormatProperties(props)
	if err != nil {
		return ClusterServiceVersion{}, fmt.Errorf("bundle %s: %w", b.Name(), err)
	}
	return ClusterServiceVersion{
		ObjectMeta: ObjectMeta{
			Name:        b.Name(),
			Namespace:   namespace,
			Annotations: map[string]string{PropertiesAnnotation: note},
		},
		Spec:   CSVSpec{Version: b.Version()},
		Status: CSVStatus{Phase: PhaseSucceeded},
	}, nil
}

// projected returns the properties of an installed operator:
//
//  1. If the annotation is present, only it counts.
//  2. Otherwise the APIs that the CSV owns are provided and those it requires
//     are required, each list in the order of its JSON form.
//  3. The package follows, if the subscriptions that have this CSV installed
//     name exactly one.
func projected(c *ClusterServiceVersion, subs []*Subscription) ([]catalog.Property, error) {
	if note, ok := c.Annotations[PropertiesAnnotation]; ok {
		return ParseProperties(note)
	}
	crds, apis := &c.Spec.CustomResourceDefinitions, &c.Spec.APIServiceDefinitions
	provided, err := apiProperties(propertyGVK, crds.Owned, apis.Owned)
	if err != nil {
		return nil, err
	}
	required, err := apiProperties(propertyGVKRequired, crds.Required, apis.Required)
	if err != nil {
		return nil, err
	}
	props := append(provided, required...)
	if p, ok := inferPackage(c, subs); ok {
		props = append(props, p)
	}
	return props, nil
}

func apiProperties(kind string, crds []CRDDescription, apis []APIServiceDescription) ([]catalog.Property, error) {
	var values []string
	add := func(group, version, k string) {
		text, _ := json.Marshal(gvkValue{group, version, k}) // strings only: cannot fail
		values = append(values, string(text))
	}
	for _, d := range crds {
		_, group, ok := strings.Cut(d.Name, ".")
		if !ok {
			return nil, fmt.Errorf("CRD name %q: a CRD is named PLURAL.GROUP", d.Name)
		}
		add(group, d.Version, d.Kind)
	}
	for _, d := range apis {
		add(d.Group, d.Version, d.Kind)
	}
	slices.Sort(values)
	var props []catalog.Property
	for _, v := range slices.Compact(values) {
		props = append(props, catalog.Property{Type: kind, Value: json.RawMessage(v)})
	}
	return props, nil
}

// inferPackage returns the package property of a CSV whose subscriptions agree
// on one package.
func inferPackage(c *ClusterServiceVersion, subs []*Subscription) (catalog.Property, bool) {
	pkg := ""
	for _, s := range subs {
		named := s.Spec.Package
		if s.Status.InstalledCSV != c.Name || named == "" {
			continue
		}
		if pkg != "" && pkg != named {
			return catalog.Property{}, false
		}
		pkg = named
	}
	version := c.Spec.Version
	if version == "0.0.0" { // how an absent version prints
		version = ""
	}
	text, _ := json.Marshal(packageValue{pkg, version}) // strings only: cannot fail
	return catalog.Property{Type: propertyPackage, Value: text}, pkg != ""
}
