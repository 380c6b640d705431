package packages

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/catalog"
)

// The API of the views.
const (
	Group   = "packages.operators.coreos.com" // its group
	Version = "v1"                            // its version
	Kind    = "PackageManifest"               // of a view
)

// PackageManifest is a package as a cluster shows it. Its JSON names are those of
// the API.
type PackageManifest struct {
	fairlead.TypeMeta
	fairlead.ObjectMeta `json:"metadata"`

	Status Status `json:"status"` // the whole content
}

// PackageManifestList is the answer to a request for all packages.
type PackageManifestList struct {
	fairlead.TypeMeta
	Metadata struct{}          `json:"metadata"` // empty
	Items    []PackageManifest `json:"items"`    // by name, then as the catalogs are given
}

// Status is what a package offers.
type Status struct {
	CatalogSource            string       `json:"catalogSource"`            // name of the catalog
	CatalogSourceDisplayName string       `json:"catalogSourceDisplayName"` // the catalog's, for people
	CatalogSourcePublisher   string       `json:"catalogSourcePublisher"`   // the catalog's, for people
	CatalogSourceNamespace   string       `json:"catalogSourceNamespace"`   // of the catalog
	Provider                 Link         `json:"provider"`                 // as the head of the default channel says
	PackageName              string       `json:"packageName"`              // as in the catalog
	Deprecation              *Deprecation `json:"deprecation,omitempty"`    // of the package as a whole
	Channels                 []Channel    `json:"channels"`                 // by name
	DefaultChannel           string       `json:"defaultChannel"`           // of those that are shown
}

// Deprecation says that something should no longer be used.
type Deprecation struct {
	Message string `json:"message"` // for people
}

// Channel is a channel of a package.
type Channel struct {
	Name           string       `json:"name"`                  // as in the catalog
	CurrentCSV     string       `json:"currentCSV"`            // name of the CSV of its head
	CurrentCSVDesc Description  `json:"currentCSVDesc"`        // what that CSV says
	Deprecation    *Deprecation `json:"deprecation,omitempty"` // of the channel
	Entries        []Entry      `json:"entries"`               // by version, the highest first, then by name
}

// Entry is a bundle of a channel.
type Entry struct {
	Name        string       `json:"name"`                  // of the bundle
	Version     string       `json:"version,omitempty"`     // of its olm.package property
	Deprecation *Deprecation `json:"deprecation,omitempty"` // of the bundle
}

// Description is what a CSV says of an operator. The fields are those of a CSV,
// where the documentation of bundles explains them.
type Description struct {
	DisplayName    string            `json:"displayName,omitempty"`     // of the operator
	Icon           []catalog.Icon    `json:"icon,omitempty"`            // consoles show the first
	Version        string            `json:"version"`                   // "0.0.0" where the CSV has none
	Provider       Link              `json:"provider"`                  // who publishes it
	Annotations    map[string]string `json:"annotations,omitempty"`     // of the CSV
	Keywords       []string          `json:"keywords,omitempty"`        // for searches
	Links          []Link            `json:"links,omitempty"`           // further reading
	Maintainers    []Maintainer      `json:"maintainers,omitempty"`     // contacts
	Maturity       string            `json:"maturity,omitempty"`        // such as alpha or stable
	Description    string            `json:"description,omitempty"`     // long; Markdown
	InstallModes   []InstallMode     `json:"installModes,omitempty"`    // supported install modes
	CRDs           CRDs              `json:"customresourcedefinitions"` // custom resources
	APIServices    APIServices       `json:"apiservicedefinitions"`     // aggregated APIs
	NativeAPIs     []GVK             `json:"nativeApis,omitempty"`      // that the cluster must have
	MinKubeVersion string            `json:"minKubeVersion,omitempty"`  // minimum version of Kubernetes
	// RelatedImages are the images that the CSV lists or its deployments run,
	// sorted, each once.
	RelatedImages []string `json:"relatedImages,omitempty"`
}

// Link is an address with a name.
type Link struct {
	Name string `json:"name,omitempty"` // for people
	URL  string `json:"url,omitempty"`  // as the CSV writes it, not checked
}

// Maintainer is a person or team that maintains an operator.
type Maintainer struct {
	Name  string `json:"name,omitempty"`  // name of the person or team
	Email string `json:"email,omitempty"` // as the CSV writes it, not checked
}

// InstallMode says whether the operator supports an install mode.
type InstallMode struct {
	Type      string `json:"type"`      // such as AllNamespaces
	Supported bool   `json:"supported"` // by the operator
}

// GVK names an API.
type GVK struct {
	Group   string `json:"group"`   // empty for the core group
	Version string `json:"version"` // such as v1
	Kind    string `json:"kind"`    // such as Deployment
}

// CRDs are the custom resources of an operator.
type CRDs struct {
	Owned    []CRD `json:"owned,omitempty"`    // that it provides
	Required []CRD `json:"required,omitempty"` // that it needs
}

// CRD describes a custom resource; how its fields are shown is left out.
type CRD struct {
	Name        string `json:"name"`                  // PLURAL.GROUP
	Version     string `json:"version"`               // such as v1
	Kind        string `json:"kind"`                  // of the objects
	DisplayName string `json:"displayName,omitempty"` // of the kind
	Description string `json:"description,omitempty"` // of the kind
}

// APIServices are the aggregated APIs of an operator.
type APIServices struct {
	Owned    []APIService `json:"owned,omitempty"`    // that it provides
	Required []APIService `json:"required,omitempty"` // that it needs
}

// APIService describes an aggregated API; how its fields are shown, and what
// serves it, is left out.
type APIService struct {
	Name        string `json:"name"`                  // plural
	Group       string `json:"group"`                 // of the API
	Version     string `json:"version"`               // such as v1
	Kind        string `json:"kind"`                  // of the objects
	DisplayName string `json:"displayName,omitempty"` // of the kind
	Description string `json:"description,omitempty"` // of the kind
}
