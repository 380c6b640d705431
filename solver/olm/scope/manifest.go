package scope

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/solver/olm/internal/manifest"
)

// StepOf returns the step that applies a manifest, one JSON object. An object
// without a namespace of its own gets the given one; "" means cluster-scoped. The
// resource is what Plural returns for the kind. A text that is not an object with
// apiVersion, kind and name is an error.
func StepOf(text []byte, namespace string, exists bool) (Step, error) {
	var o struct {
		APIVersion string     `json:"apiVersion"`
		Kind       string     `json:"kind"`
		Metadata   ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return Step{}, fmt.Errorf("manifest: %w", err)
	}
	if o.APIVersion == "" || o.Kind == "" || o.Metadata.Name == "" {
		return Step{}, fmt.Errorf("manifest: apiVersion %q, kind %q, name %q: all three are needed", o.APIVersion, o.Kind, o.Metadata.Name)
	}
	group, _ := manifest.GroupVersion(o.APIVersion)
	s := Step{Group: group, Resource: Plural(o.Kind), Kind: o.Kind, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, Exists: exists}
	if s.Namespace == "" {
		s.Namespace = namespace
	}
	if group != rbacGroup {
		return s, nil // other groups may mean something else by the same keys
	}
	var given struct {
		Rules   []PolicyRule `json:"rules"`
		RoleRef *RoleRef     `json:"roleRef"`
	}
	if err := json.Unmarshal(text, &given); err != nil {
		return Step{}, fmt.Errorf("manifest of %s: %w", &s, err)
	}
	s.Rules, s.RoleRef = given.Rules, given.RoleRef
	return s, nil
}

// Plural returns the most likely resource name of a kind: its English plural in
// lower case.
func Plural(kind string) string {
	name := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	case strings.HasSuffix(name, "y") && !strings.HasSuffix(name, "ay") && !strings.HasSuffix(name, "ey"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}
