// Package manifest reads the manifests of objects in bundles, of which only a few
// fields are known.
package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Fields are the decoded fields of an object, with numbers as written.
type Fields map[string]any

// Decode reads one JSON object.
func Decode(text []byte) (Fields, error) {
	var f Fields
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("manifest is not a JSON object: %w", err)
	}
	if f == nil {
		return nil, errors.New("manifest is null: it must be a JSON object")
	}
	return f, nil
}

// Text returns the text under a key, or "" if there is none.
func (f Fields) Text(key string) string { s, _ := f[key].(string); return s }

// Child returns the object under a key, and creates it if there is none.
func (f Fields) Child(key string) Fields {
	c, ok := f[key].(map[string]any)
	if !ok {
		c = make(map[string]any)
		f[key] = c
	}
	return c
}

// GroupVersion returns the parts of an apiVersion. The group of the core API is "".
func GroupVersion(apiVersion string) (group, version string) {
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return "", apiVersion
	}
	return group, version
}

// Namespaced reports whether objects of a kind have a namespace. Of the kinds that a
// bundle may contain, only those listed have none.
func Namespaced(kind string) bool {
	switch kind {
	case "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "PriorityClass",
		"ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin", "ConsoleQuickStart", "ConsoleYAMLSample", "ConsoleYamlSample":
		return false
	}
	return true
}
