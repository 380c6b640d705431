package status

import (
	"fmt"

	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// The conditions of a subscription.
const (
	CatalogSourcesUnhealthy = "CatalogSourcesUnhealthy" // a catalog used in resolution is not healthy
	InstallPlanMissing      = "InstallPlanMissing"      // the plan that the subscription refers to does not exist
	InstallPlanPending      = "InstallPlanPending"      // the plan is not complete
	InstallPlanFailed       = "InstallPlanFailed"       // the plan failed
	ResolutionFailed        = "ResolutionFailed"        // no operator could be chosen
	BundleUnpacking         = "BundleUnpacking"         // a chosen bundle is being fetched
	BundleUnpackFailed      = "BundleUnpackFailed"      // a chosen bundle could not be fetched
	PackageDeprecated       = "PackageDeprecated"       // the package is deprecated
	ChannelDeprecated       = "ChannelDeprecated"       // the channel is deprecated
	BundleDeprecated        = "BundleDeprecated"        // the installed bundle is deprecated
	Deprecated              = "Deprecated"              // any of the three, with all messages
)

// The reasons of conditions.
const (
	ReasonNoCatalogs           = "NoCatalogSourcesFound"
	ReasonAllHealthy           = "AllCatalogSourcesHealthy"
	ReasonCatalogsAdded        = "CatalogSourcesAdded"
	ReasonCatalogsUpdated      = "CatalogSourcesUpdated"
	ReasonCatalogsDeleted      = "CatalogSourcesDeleted"
	ReasonUnhealthyCatalog     = "UnhealthyCatalogSourceFound"
	ReasonPlanNotFound         = "ReferencedInstallPlanNotFound"
	ReasonPlanNotYetReconciled = "InstallPlanNotYetReconciled"
	ReasonPlanFailed           = "InstallPlanFailed"
	ReasonNotSatisfiable       = "ConstraintsNotSatisfiable" // final until something changes
	ReasonErrorPrevented       = "ErrorPreventedResolution"  // any other error; to be retried
	ReasonErrorPreventedUnpack = "ErrorPreventedUnpacking"   // an unpacking could not be started
	ReasonUnpackFailed         = "BundleUnpackFailed"        // an unpacking failed
	ReasonEnsurePlanFailed     = "EnsureInstallPlanFailed"   // the plan could not be written
	reasonUnpacking            = "UnpackingInProgress"
	reasonDeprecated           = "Deprecated"
	phaseComplete, phaseFailed = "Complete", "Failed"
	phaseRequiresApproval      = "RequiresApproval"
	textAllHealthy             = "all available catalogs are healthy"
)

// Facts is what is known about a subscription.
type Facts struct {
	// Catalogs are those visible in the subscription's namespace, in any order.
	Catalogs []resource.CatalogHealth
	// CatalogsUnknown says that the catalogs were not checked. What the status says
	// of catalogs then does not change.
	CatalogsUnknown bool
	// Resolution is why the subscription cannot be served, or nil.
	Resolution *Refusal
	// Plan is the install plan that status.installPlanRef names, or nil if there
	// is none of that name.
	Plan *Plan
	// Bundles are those that were chosen for the namespace and have not been
	// fetched yet.
	Bundles []Unpack
	// Deprecations are those that concern the subscription; see Deprecations.
	Deprecations []catalog.Deprecation
	// CSVs are the names of the CSVs that exist in the namespace.
	CSVs []string
	// Next is the name of the CSV that the subscription is to be updated to, or
	// "" if it is at the latest that is known.
	Next string
}

// Refusal says why a subscription cannot be served.
type Refusal struct {
	Reason  string // ReasonNotSatisfiable or ReasonErrorPrevented
	Message string // for people: the explanation, of one or more lines
}

// Plan is what a subscription shows of an install plan.
type Plan struct {
	// Phase is "", Planning, RequiresApproval, Installing, Complete or Failed.
	Phase string
	// Reason and Message are those of the plan's condition if it failed.
	Reason, Message string
}

// Unpack is a bundle that is being fetched.
type Unpack struct {
	Bundle string // its name or image
	// Reason is why fetching it failed: ReasonErrorPreventedUnpack,
	// ReasonUnpackFailed or ReasonEnsurePlanFailed; "" while it is in progress.
	Reason  string
	Message string // further details
}

// Deprecations returns what a package's deprecations mean for a subscription,
// in their order: those of the package, of the channel that it follows (the
// package's default channel if it names none), and of the CSV that is
// installed, by its name.
func Deprecations(sub *resource.Subscription, pkg *catalog.Package) ([]catalog.Deprecation, error) {
	all, err := pkg.Deprecations()
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", pkg.Name(), err)
	}
	channel := sub.Spec.Channel
	if channel == "" {
		channel = pkg.DefaultChannel()
	}
	var mine []catalog.Deprecation
	for _, d := range all {
		concerns := map[string]bool{
			"olm.package": true,
			"olm.channel": d.Reference.Name == channel,
			"olm.bundle":  d.Reference.Name == sub.Status.InstalledCSV,
		}
		if concerns[d.Reference.Schema] {
			mine = append(mine, d)
		}
	}
	return mine, nil
}
