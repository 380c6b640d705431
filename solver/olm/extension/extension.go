package extension

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
)

// ClusterExtension asks for one package. Its JSON form is that of the API.
type ClusterExtension struct {
	fairlead.ObjectMeta `json:"metadata"`
	Spec                Spec   `json:"spec"`   // what it asks for
	Status              Status `json:"status"` // its status so far
}

// Spec is what an extension asks for.
type Spec struct {
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

// Status is the status of an extension.
type Status struct {
	Conditions      []fairlead.Condition `json:"conditions,omitempty"`      // see TypeInstalled and those after it
	Install         *Installed           `json:"install,omitempty"`         // what is installed, nil for nothing
	ActiveRevisions []ActiveRevision     `json:"activeRevisions,omitempty"` // what is installed, then what is rolling out
}

// Installed is what an extension has.
type Installed struct {
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
}

// Source returns the catalog as a resolver needs it; the caller fills in its
// content.
func (c *ClusterCatalog) Source() olm.Source {
	labels := map[string]string{"olm.operatorframework.io/metadata.name": c.Name}
	for key, value := range c.Labels {
		labels[key] = value
	}
	return olm.Source{SourceKey: olm.SourceKey{Name: c.Name}, Priority: c.Spec.Priority, Labels: labels, Disabled: c.Spec.AvailabilityMode == "Unavailable"}
}

// Question returns the question for [olm.Resolver.ResolveExtension]. The error
// names the field that is not valid.
func (x *ClusterExtension) Question() (*olm.Extension, error) {
	f := x.Spec.Source.Catalog
	switch {
	case x.Spec.Source.SourceType != "Catalog":
		return nil, fmt.Errorf("clusterextension %s: spec.source.sourceType is %q; the only one is Catalog", x.Name, x.Spec.Source.SourceType)
	case f == nil || f.Package == "":
		return nil, fmt.Errorf("clusterextension %s: spec.source.catalog.packageName is missing", x.Name)
	case !slices.Contains([]UpgradePolicy{"", CatalogProvided, SelfCertified}, f.Policy):
		return nil, fmt.Errorf("clusterextension %s: spec.source.catalog.upgradeConstraintPolicy is %q; it must be %s or %s", x.Name, f.Policy, CatalogProvided, SelfCertified)
	}
	q := &olm.Extension{Package: f.Package, Version: f.Version, Channels: f.Channels, SelfCertified: f.Policy == SelfCertified}
	if !f.Selector.Empty() {
		if err := f.Selector.Check(); err != nil {
			return nil, fmt.Errorf("clusterextension %s: spec.source.catalog.selector: %w", x.Name, err)
		}
		q.Catalogs = func(s *olm.Source) bool { return f.Selector.Matches(s.Labels) }
	}
	if is := x.Status.Install; is != nil {
		q.Installed = &olm.InstalledBundle{Name: is.Bundle.Name, Version: is.Bundle.Version, Release: is.Bundle.Release}
	}
	return q, nil
}
