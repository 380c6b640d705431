package resource

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead/catalog"
)

// PropertiesAnnotation is the annotation of a CSV that carries the properties
// of the bundle it was installed from.
const PropertiesAnnotation = "operatorframework.io/properties"

// ParseProperties reads the value of PropertiesAnnotation: a JSON object whose
// properties is a list of {type, value}. An empty object or list gives none.
func ParseProperties(annotation string) ([]catalog.Property, error) {
	var held struct {
		Properties []struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"`
		} `json:"properties"`
	}
	if err := json.Unmarshal([]byte(annotation), &held); err != nil {
		return nil, fmt.Errorf("annotation %s: %w", PropertiesAnnotation, err)
	}
	var props []catalog.Property
	for _, p := range held.Properties {
		props = append(props, catalog.Property{Type: p.Type, Value: p.Value})
	}
	return props, nil
}

// FormatProperties is the inverse of ParseProperties. No properties give "{}".
// A value that is not JSON is an error. Properties of type olm.csv.metadata and
// olm.bundle.object, which repeat whole manifests, are left out.
func FormatProperties(props []catalog.Property) (string, error) {
	type property struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	var held struct {
		Properties []property `json:"properties,omitempty"`
	}
	for _, p := range props {
		if p.Type == "olm.csv.metadata" || p.Type == "olm.bundle.object" {
			continue
		}
		held.Properties = append(held.Properties, property{p.Type, p.Value})
	}
	text, err := json.Marshal(held)
	if err != nil {
		return "", fmt.Errorf("annotation %s: %w", PropertiesAnnotation, err)
	}
	return string(text), nil
}
