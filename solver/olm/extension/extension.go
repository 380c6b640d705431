package extension

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// The types of extensions and catalogs are those of package resource.
type (
	ClusterExtension = resource.ClusterExtension   // asks for one package
	Spec             = resource.ExtensionSpec      // what an extension asks for
	AccountName      = resource.AccountName        // names a service account
	SourceConfig     = resource.SourceConfig       // where the bundle comes from
	UpgradePolicy    = resource.UpgradePolicy      // which versions may follow the installed one
	CatalogFilter    = resource.CatalogFilter      // which bundle of which catalogs
	InstallConfig    = resource.InstallConfig      // how strict preflights are
	BundleConfig     = resource.BundleConfig       // configures a bundle
	Status           = resource.ExtensionStatus    // the status of an extension
	Installed        = resource.InstalledExtension // what an extension has
	BundleName       = resource.BundleName         // which bundle of a package
	ActiveRevision   = resource.ActiveRevision     // a revision that is not archived
	ClusterCatalog   = resource.ClusterCatalog     // a catalog of OLM v1
)

// The policies. Empty counts as CatalogProvided.
const (
	CatalogProvided = resource.CatalogProvided // successors by the catalog's channels
	SelfCertified   = resource.SelfCertified   // any, even a lower one
)

// SourceOf returns the catalog as a resolver needs it; the caller fills in its
// content.
func SourceOf(c *ClusterCatalog) olm.Source {
	labels := map[string]string{"olm.operatorframework.io/metadata.name": c.Name}
	for key, value := range c.Labels {
		labels[key] = value
	}
	return olm.Source{SourceKey: olm.SourceKey{Name: c.Name}, Priority: c.Spec.Priority, Labels: labels, Disabled: c.Spec.AvailabilityMode == "Unavailable"}
}

// QuestionOf returns the question for [olm.Resolver.ResolveExtension]. The error
// names the field that is not valid.
func QuestionOf(x *ClusterExtension) (*olm.Extension, error) {
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
