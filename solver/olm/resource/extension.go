package resource

import (
	"encoding/json"

	"github.com/fairlead/fairlead"
)

// ClusterExtension asks for one package. Its JSON form is that of the API.
type ClusterExtension struct {
	fairlead.ObjectMeta `json:"metadata"`
	Spec                ExtensionSpec   `json:"spec"`   // what it asks for
	Status              ExtensionStatus `json:"status"` // its status so far
}

// ExtensionSpec is what an extension asks for.
type ExtensionSpec struct {
	Namespace      string         `json:"namespace"`                         // where its objects live
	ServiceAccount AccountName    `json:"serviceAccount,omitzero"`           // of that namespace: who applies them
	Source         SourceConfig   `json:"source"`                            // what to install
	Install        *InstallConfig `json:"install,omitempty"`                 // how strict preflights are
	Config         *BundleConfig  `json:"config,omitempty"`                  // how the bundle is configured
	ProgressLimit  int32          `json:"progressDeadlineMinutes,omitempty"` // how long a rollout may take, in minutes; 0 means forever
}

// AccountName names a service account.
type AccountName struct {
	Name string `json:"name,omitempty"` // in the namespace of the extension
}

// SourceConfig says where the bundle comes from.
type SourceConfig struct {
	SourceType string         `json:"sourceType"`        // Catalog, the only one
	Catalog    *CatalogFilter `json:"catalog,omitempty"` // which bundle
}

// UpgradePolicy says which versions may follow the installed one.
type UpgradePolicy string

// The policies. Empty counts as CatalogProvided.
const (
	CatalogProvided UpgradePolicy = "CatalogProvided" // successors by the catalog's channels
	SelfCertified   UpgradePolicy = "SelfCertified"   // any, even a lower one
)

// CatalogFilter says which bundle of which catalogs.
type CatalogFilter struct {
	Package  string                  `json:"packageName"`                       // the package's name
	Version  string                  `json:"version,omitempty"`                 // a version or a range; empty means any
	Channels []string                `json:"channels,omitempty"`                // none means all
	Selector *fairlead.LabelSelector `json:"selector,omitempty"`                // of catalogs, by their labels
	Policy   UpgradePolicy           `json:"upgradeConstraintPolicy,omitempty"` // see UpgradePolicy
}

// InstallConfig says how strict preflights are.
type InstallConfig struct {
	// Preflight says which checks are made.
	Preflight struct {
		CRDUpgradeSafety struct {
			Enforcement string `json:"enforcement"` // Strict, or None for no check
		} `json:"crdUpgradeSafety"`
	} `json:"preflight"`
}

// BundleConfig configures a bundle.
type BundleConfig struct {
	ConfigType string          `json:"configType"`       // Inline, the only one
	Inline     json.RawMessage `json:"inline,omitempty"` // see Settings
}

// ExtensionStatus is the status of an extension.
type ExtensionStatus struct {
	Conditions      []fairlead.Condition `json:"conditions,omitempty"`      // see TypeInstalled and those after it
	Install         *InstalledExtension  `json:"install,omitempty"`         // what is installed, nil for nothing
	ActiveRevisions []ActiveRevision     `json:"activeRevisions,omitempty"` // what is installed, then what is rolling out
}

// InstalledExtension is what an extension has.
type InstalledExtension struct {
	Bundle BundleName `json:"bundle"` // which bundle
}

// BundleName says which bundle of a package.
type BundleName struct {
	Name    string  `json:"name"`              // the bundle's
	Version string  `json:"version"`           // its version
	Release *string `json:"release,omitempty"` // its release, if it is known separately from the version
}

// ActiveRevision is a revision that is not archived.
type ActiveRevision struct {
	Name       string               `json:"name"`                 // the revision's
	Conditions []fairlead.Condition `json:"conditions,omitempty"` // while it is rolling out
}

// ClusterCatalog is a catalog of OLM v1.
type ClusterCatalog struct {
	fairlead.ObjectMeta `json:"metadata"`
	// Spec is the desired state of the catalog.
	Spec struct {
		Priority         int    `json:"priority,omitempty"`         // higher is preferred
		AvailabilityMode string `json:"availabilityMode,omitempty"` // Available, the default, or Unavailable
	} `json:"spec"`
	// Status is its observed state.
	Status struct {
		Conditions []fairlead.Condition `json:"conditions,omitempty"` // Serving and Progressing
	} `json:"status"`
}
