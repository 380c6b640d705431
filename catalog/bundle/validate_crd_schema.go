package bundle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
)

// schemas checks the schemas and subresources of a CRD as an API server does,
// except for types of values. CEL rules are not compiled: that takes the server's
// own library.
func (k *crdCheck) schemas(t *crdTypes) {
	if k.crd.old() {
		return
	}
	for i, v := range t.Spec.Versions {
		s := schemaChecker{path: []any{"spec", "versions", i, "schema", "openAPIV3Schema"}}
		s.look = func(v *doc.Value, fields *schemaFields, parts *schemaParts) { k.schema(s.path, v, fields, parts) }
		s.schema(v.Schema.OpenAPIV3Schema)
		if tree := k.crd.manifest.src.tree.At("spec", "versions", i); tree.Get("subresources", "scale") != nil {
			k.scale(&v.Subresources, "spec", "versions", i, "subresources", "scale")
		}
	}
}

// unsupported are the fields that schemas of OpenAPI have and those of CRDs must
// not have.
func unsupported() []string {
	return []string{"id", "$ref", "definitions", "dependencies", "patternProperties", "additionalItems"}
}

// schema checks one schema, which is at a path.
func (k *crdCheck) schema(path []any, v *doc.Value, fields *schemaFields, parts *schemaParts) {
	fault := func(message, hint string, field string) {
		k.fault(schemaPath(path)+": "+message, hint, append(slices.Clone(path), field)...)
	}
	for _, name := range unsupported() {
		if !v.Get(name).Null() {
			fault(name+" is not supported in CRDs", "write out the schema, without "+name, name)
		}
	}
	if fields.UniqueItems {
		fault("uniqueItems cannot be true, because checking it is too slow", "write x-kubernetes-list-type: set", "uniqueItems")
	}
	if fields.Type == "array" && parts.Items.Null() {
		fault("an array has no items", "state the schema of its items", "items")
	}
	if !parts.Items.Null() && parts.Items.Kind == '[' {
		fault("items is a list", "write one schema for all items", "items")
	}
	if fields.ListType != nil && *fields.ListType == "map" && len(fields.ListMapKeys) == 0 {
		fault("a list of type map has no keys", "name them in x-kubernetes-list-map-keys", "x-kubernetes-list-type")
	}
	if len(parts.Properties) > 0 && !parts.AdditionalProperties.Null() && parts.AdditionalProperties.Kind == '{' {
		fault("properties and additionalProperties exclude each other", "keep one of the two", "additionalProperties")
	}
	if _, err := regexp.Compile(fields.Pattern); err != nil {
		fault(fmt.Sprintf("the pattern %q is not a regular expression: %v", fields.Pattern, err), "correct it", "pattern")
	}
	if d := v.Get("default"); !d.Null() && !fits(d, fields) {
		fault(fmt.Sprintf("the default is %s, but the type is %s", d.Describe(), fields.Type), "write a value of that type", "default")
	}
}

// schemaPath returns the path of a schema from its root, for people.
func schemaPath(path []any) string {
	words := []string{"the schema"}
	for _, step := range path[5:] {
		words = append(words, fmt.Sprint(step))
	}
	return strings.Join(words, ".")
}

// fits reports whether a default is of the type of its schema.
func fits(d *doc.Value, fields *schemaFields) bool {
	switch {
	case fields.Type == "" || fields.IntOrString:
		return true
	case fields.Type == "integer":
		return d.Type() == "number" && !strings.ContainsAny(string(d.Raw), ".eE") || d.Type() == "number" && strings.HasSuffix(string(d.Raw), ".0")
	}
	return d.Type() == fields.Type
}

// scale checks where a CRD keeps its replica counts.
func (k *crdCheck) scale(s *subresource, path ...any) {
	at := func(field, value string, roots ...string) {
		if !slices.ContainsFunc(roots, func(root string) bool { return strings.HasPrefix(value, root) }) {
			k.fault(fmt.Sprintf("subresources.scale.%s: %q is not a path below %s", field, value, strings.Join(roots, " or ")), "write it as in "+roots[0]+"replicas", append(path, field)...)
		}
	}
	at("specReplicasPath", s.Scale.SpecReplicasPath, ".spec.")
	at("statusReplicasPath", s.Scale.StatusReplicasPath, ".status.")
	if l := s.Scale.LabelSelectorPath; l != nil && *l != "" {
		at("labelSelectorPath", *l, ".status.", ".spec.")
	}
}
