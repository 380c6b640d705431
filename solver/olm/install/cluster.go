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
// observed one.
type Cluster struct {
	// Version is that of the cluster's distribution, such as 4.18.3; empty means
	// that operators cannot block its update.
	Version string `json:"version,omitempty"`
	// KubeVersion is that of Kubernetes, such as v1.32.5; empty means that it is
	// not known, and no operator is rejected because of it.
	KubeVersion string `json:"kubeVersion,omitempty"`
	// Proxy is the cluster's, or nil.
	Proxy *config.Proxy `json:"proxy,omitempty"`
	// Copies says where CSVs are copied to; nil means everywhere.
	Copies *group.CopyOptions `json:"copies,omitempty"`
	// Namespaces are the existing namespaces with their labels. An operator
	// group's selector selects among them, and only these get copies and roles.
	Namespaces []olm.ObjectMeta `json:"namespaces,omitempty"`
	// CRDs are at least those named by the CSVs and plans of the namespace.
	CRDs []CRD `json:"crds,omitempty"`
	// Resources are the custom resources of these, once for each served version.
	Resources []Resource `json:"resources,omitempty"`
	// APIServices names the aggregated APIs that are available, as VERSION.GROUP.
	APIServices []string `json:"apiServices,omitempty"`
	// Serves means that the backend manages certificates, webhooks, API services
	// and conversions. Otherwise operators that need them wait.
	Serves bool `json:"serves,omitempty"`
	// Accounts are the existing service accounts that operator groups name, and
	// Access is what they may do.
	Accounts []scope.Account `json:"accounts,omitempty"`
	Access   scope.Access    `json:"access,omitzero"` // see Accounts
	// Applies means that objects are written by server-side apply, for which an
	// account needs the verb patch.
	Applies bool `json:"applies,omitempty"`
	// Catalogs are those visible in the namespace; nil means that they are not
	// known, and nothing is reported about them.
	Catalogs []Catalog `json:"catalogs,omitempty"`
}

// CRD is an observed CustomResourceDefinition.
type CRD struct {
	crd.Definition
	Established bool `json:"established"` // whether its API can be used
	// Conversion is the Digest of the last [SetConversion] carried out, empty if
	// there was none or it was undone.
	Conversion string `json:"conversion,omitempty"`
	// OwnedIn are the other namespaces whose operators own it, one for each operator,
	// except those about to be replaced: instances for other tenants.
	OwnedIn []string `json:"ownedIn,omitempty"`
	// Home is the namespace whose install plan wrote it last, empty if none is
	// known to have.
	Home string `json:"home,omitempty"`
	Mark
}

// serves reports whether a version can be used; the empty one means any.
func (c *CRD) serves(version string) bool {
	return c.Established && (version == "" || slices.Contains(c.Served(), version))
}

// Resource is a custom resource in one version of its CRD.
type Resource struct {
	CRD     string `json:"crd"`     // the name of the CRD
	Version string `json:"version"` // the version of Data
	crd.Object
}

// Catalog is an observed CatalogSource.
type Catalog struct {
	source.CatalogSource
	Mark
	// Image is the image of the catalog's pod, empty if there is no pod.
	Image string `json:"image,omitempty"`
	// Placement is how the pod runs.
	Placement *source.Placement `json:"placement,omitempty"`
	// Address and Seen are the catalog's server and its connection state; empty
	// if no connection was tried.
	Address string       `json:"address,omitempty"`
	Seen    source.State `json:"seen,omitempty"` // see Address
}
