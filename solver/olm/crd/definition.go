package crd

import (
	"encoding/json"

	"github.com/fairlead/fairlead"
)

// ObjectMeta is the part of an object's metadata that is read.
type ObjectMeta = fairlead.ObjectMeta

// Definition is a CustomResourceDefinition, v1 or v1beta1.
type Definition struct {
	ObjectMeta `json:"metadata"`
	Spec       Spec   `json:"spec"`   // what it defines
	Status     Status `json:"status"` // its observed state
}

// Spec is what a definition defines.
type Spec struct {
	Group      string      `json:"group"`                // the API group
	Names      Names       `json:"names"`                // of the kind
	Scope      string      `json:"scope,omitempty"`      // Namespaced or Cluster
	Versions   []Version   `json:"versions,omitempty"`   // in any order
	Conversion *Conversion `json:"conversion,omitempty"` // between versions; nil means that none is needed
	// Version and Validation are fields of v1beta1: the only version if Versions
	// is empty, and the schema of versions that have none.
	Version    string      `json:"version,omitempty"`
	Validation *Validation `json:"validation,omitempty"` // see Version
}

// Names are the names of a kind.
type Names struct {
	Plural string `json:"plural"` // in paths
	Kind   string `json:"kind"`   // in objects
}

// Version is one version of a kind.
type Version struct {
	Name    string      `json:"name"`             // such as v1alpha1
	Served  bool        `json:"served"`           // whether the API server offers it
	Storage bool        `json:"storage"`          // whether objects are stored in it; once per definition
	Schema  *Validation `json:"schema,omitempty"` // what objects must look like
}

// Validation is what objects must look like.
type Validation struct {
	// OpenAPIV3Schema is the schema as written; an empty one allows everything.
	OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema,omitempty"`
}

// Conversion is how objects are converted between versions.
type Conversion struct {
	Strategy string `json:"strategy"` // None or Webhook
}

// Status is the observed state of a definition.
type Status struct {
	// StoredVersions are the versions in which objects may be stored.
	StoredVersions []string `json:"storedVersions,omitempty"`
}

// Served returns the names of the versions that the API server offers, in the
// order of the definition.
func (d *Definition) Served() []string {
	var names []string
	for _, v := range d.versions() {
		if v.Served {
			names = append(names, v.Name)
		}
	}
	return names
}

// versions returns the versions of a definition of either API version.
func (d *Definition) versions() []Version {
	if len(d.Spec.Versions) == 0 && d.Spec.Version != "" {
		return []Version{{Name: d.Spec.Version, Served: true, Storage: true, Schema: d.Spec.Validation}}
	}
	return d.Spec.Versions
}

func (d *Definition) version(name string) (Version, bool) {
	for _, v := range d.versions() {
		if v.Name == name {
			return v, true
		}
	}
	return Version{}, false
}

// schema returns the schema of a version, or nil.
func (d *Definition) schema(v Version) json.RawMessage {
	switch {
	case v.Schema != nil:
		return v.Schema.OpenAPIV3Schema
	case d.Spec.Validation != nil:
		return d.Spec.Validation.OpenAPIV3Schema
	}
	return nil
}

func (d *Definition) convertsByWebhook() bool {
	return d.Spec.Conversion != nil && d.Spec.Conversion.Strategy == "Webhook"
}
