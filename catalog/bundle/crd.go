package bundle

import (
	"strings"

	"github.com/fairlead/fairlead/catalog"
)

// CRD is what one of a bundle's CustomResourceDefinitions says, with the JSON
// names of the original.
type CRD struct {
	Metadata Metadata `json:"metadata"` // name, labels and annotations
	Spec     CRDSpec  `json:"spec"`     // the definition

	manifest *Manifest
}

// Position returns where the document of the CustomResourceDefinition starts.
func (c *CRD) Position() catalog.Position { return c.manifest.Position }

// Manifest returns the manifest that the CRD is decoded from.
func (c *CRD) Manifest() *Manifest { return c.manifest }

// CRDSpec is the spec of a CustomResourceDefinition, of apiextensions.k8s.io/v1
// or its predecessor v1beta1.
type CRDSpec struct {
	Group      string       `json:"group"`      // API group of the resource
	Names      CRDNames     `json:"names"`      // what it is called
	Scope      string       `json:"scope"`      // Namespaced or Cluster
	Versions   []CRDVersion `json:"versions"`   // in the order they are written
	Version    string       `json:"version"`    // v1beta1 only
	Conversion *Conversion  `json:"conversion"` // nil where nothing is said
	// PreserveUnknownFields must not be true in v1.
	PreserveUnknownFields bool `json:"preserveUnknownFields"`
}

// CRDNames are the names of a custom resource.
type CRDNames struct {
	Plural     string   `json:"plural"`     // lower case, as in URLs
	Singular   string   `json:"singular"`   // lower case; "" stands for the kind in lower case
	Kind       string   `json:"kind"`       // as in manifests
	ListKind   string   `json:"listKind"`   // "" stands for the kind followed by List
	ShortNames []string `json:"shortNames"` // for the command line
	Categories []string `json:"categories"` // groups of resources, such as all
}

// CRDVersion is one version of a custom resource.
type CRDVersion struct {
	Name    string     `json:"name"`    // such as v1alpha1
	Served  bool       `json:"served"`  // whether the API server offers it
	Storage bool       `json:"storage"` // whether objects are stored in it; one version has to be
	Schema  *CRDSchema `json:"schema"`  // nil where there is none
}

// CRDSchema holds the schema of a version, of which only the type of its root
// is decoded.
type CRDSchema struct {
	OpenAPIV3Schema *SchemaRoot `json:"openAPIV3Schema"` // nil where there is none
}

// SchemaRoot is the root of a schema.
type SchemaRoot struct {
	Type string `json:"type"` // object
}

// Conversion says how objects change between versions.
type Conversion struct {
	Strategy string `json:"strategy"` // None or Webhook
}

// old reports whether the CRD is of the version of the API that Kubernetes
// 1.22 removed.
func (c *CRD) old() bool { return strings.HasSuffix(c.manifest.APIVersion, "/v1beta1") }

// api is a provided or required API with the plural that names its resource.
type api struct {
	catalog.GVK
	plural string
}

// apis returns the APIs that the CRD defines, in the order of its versions,
// whether they are served or not.
func (c *CRD) apis() []api {
	var all []api
	add := func(version string) {
		all = append(all, api{catalog.GVK{Group: c.Spec.Group, Version: version, Kind: c.Spec.Names.Kind}, c.Spec.Names.Plural})
	}
	for _, v := range c.Spec.Versions {
		add(v.Name)
	}
	if c.old() && c.Spec.Version != "" {
		add(c.Spec.Version)
	}
	return all
}

// splitCRDName splits the name of a CRD, plural.group.
func splitCRDName(name string) (plural, group string, ok bool) {
	return strings.Cut(name, ".")
}
