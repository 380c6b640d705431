package install

import (
	"slices"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/config"
	"github.com/fairlead/fairlead/solver/olm/crd"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/scope"
	"github.com/fairlead/fairlead/solver/olm/source"
)

// Cluster is what all namespaces have in common, as far as it matters to the
// one that is looked at.
type Cluster struct {
	// Version is that of the cluster's distribution, such as 4.18.3; empty means
	// that no operator is asked whether it may be updated.
	Version string `json:"version,omitempty"`
	// KubeVersion is that of Kubernetes, such as v1.32.5; empty means that it is
	// not known, and no operator is refused for it.
	KubeVersion string `json:"kubeVersion,omitempty"`
	// Proxy is the cluster's, or nil.
	Proxy *config.Proxy `json:"proxy,omitempty"`
	// Copies says where copies of CSVs go; nil means everywhere.
	Copies *group.CopyOptions `json:"copies,omitempty"`
	// Namespaces are those that exist, with their labels. A group with a selector
	// picks among them, and only these get copies and roles.
	Namespaces []olm.ObjectMeta `json:"namespaces,omitempty"`
	// CRDs are at least those that the CSVs and the plans of the namespace name.
	CRDs []CRD `json:"crds,omitempty"`
	// Resources are the custom resources of these, once for each version that is
	// served.
	Resources []Resource `json:"resources,omitempty"`
	// APIServices names the aggregated APIs that are available, as VERSION.GROUP.
	APIServices []string `json:"apiServices,omitempty"`
	// Serves tells that the backend keeps certificates, webhooks, API services and
	// conversions. Operators that bring such wait where it does not.
	Serves bool `json:"serves,omitempty"`
	// Accounts are the service accounts that operator groups name, as far as they
	// exist, and Access what those may do.
	Accounts []scope.Account `json:"accounts,omitempty"`
	Access   scope.Access    `json:"access,omitzero"` // see Accounts
	// Catalogs are those that the namespace sees; nil means that they are not
	// known, and nothing is said of them.
	Catalogs []Catalog `json:"catalogs,omitempty"`
}

// CRD is a CustomResourceDefinition as it is observed.
type CRD struct {
	crd.Definition
	Established bool `json:"established"` // whether its API can be used
	// Conversion is the Digest of the [SetConversion] that was carried out last,
	// empty if none was or it was taken back.
	Conversion string `json:"conversion,omitempty"`
	// OwnedElsewhere is how many operators of other namespaces own it, those apart
	// that are about to be replaced: instances for other tenants.
	OwnedElsewhere int `json:"ownedElsewhere,omitempty"`
	Mark
}

// serves reports whether a version can be used; the empty one means any.
func (c *CRD) serves(version string) bool {
	return c.Established && (version == "" || slices.Contains(c.Served(), version))
}

// Resource is a custom resource, as it reads in one version of its CRD.
type Resource struct {
	CRD     string `json:"crd"`     // the name of the CRD
	Version string `json:"version"` // the version in which Data is
	crd.Object
}

// Catalog is a CatalogSource as it is observed.
type Catalog struct {
	source.CatalogSource
	Mark
	// Image is what the catalog's pod runs, empty if there is no pod.
	Image string `json:"image,omitempty"`
	// Placement is how the pod runs.
	Placement *source.Placement `json:"placement,omitempty"`
	// Address and Seen are the catalog's server, and how the connection to it
	// stands; empty if none was tried.
	Address string       `json:"address,omitempty"`
	Seen    source.State `json:"seen,omitempty"` // see Address
}
