package catalog

import (
	"encoding/json"
)

// The types of properties that catalogs and resolvers know.
const (
	PropertyPackage         = "olm.package"
	PropertyPackageRequired = "olm.package.required"
	PropertyGVK             = "olm.gvk"
	PropertyGVKRequired     = "olm.gvk.required"
	PropertyConstraint      = "olm.constraint"
	PropertyBundleObject    = "olm.bundle.object"
	PropertyCSVMetadata     = "olm.csv.metadata"
	PropertyMaxOpenShift    = "olm.maxOpenShiftVersion"
)

// Property is one property of a bundle. Value is the JSON text as it is in the
// catalog; it may be shared and must not be changed.
type Property struct {
	Type  string          `json:"type"`  // what the value means, such as olm.gvk
	Value json.RawMessage `json:"value"` // nil when there is none
}

// GVK names an API: group, version and kind.
type GVK struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// String returns group/version/kind.
func (g GVK) String() string { return g.Group + "/" + g.Version + "/" + g.Kind }

// isPayload reports whether properties of this type carry what is installed,
// rather than a fact about the bundle that a resolver uses.
func isPayload(propertyType string) bool {
	return propertyType == PropertyBundleObject || propertyType == PropertyCSVMetadata
}
