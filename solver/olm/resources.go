package olm

import (
	"github.com/fairlead/fairlead/catalog"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// The objects that resolution reads are those of package resource.
type (
	ObjectMeta             = resource.ObjectMeta             // the part of an object's metadata that is read
	Condition              = resource.Condition              // a condition that is reported on an object
	Approval               = resource.Approval               // how an install plan is approved
	Subscription           = resource.Subscription           // requests an operator
	SubscriptionSpec       = resource.SubscriptionSpec       // what a subscription requests
	SubscriptionStatus     = resource.SubscriptionStatus     // the result so far
	SourceKey              = resource.SourceKey              // the name of a catalog
	State                  = resource.State                  // what a subscription has, compared with what is known
	PlanReference          = resource.PlanReference          // names an install plan
	CatalogHealth          = resource.CatalogHealth          // whether a catalog can be used
	Phase                  = resource.Phase                  // of a CSV
	ClusterServiceVersion  = resource.ClusterServiceVersion  // an installed operator
	CSVSpec                = resource.CSVSpec                // its definition
	CSVStatus              = resource.CSVStatus              // its state
	CRDDescriptions        = resource.CRDDescriptions        // the CRDs of an operator
	CRDDescription         = resource.CRDDescription         // one of them
	APIServiceDescriptions = resource.APIServiceDescriptions // the API services of an operator
	APIServiceDescription  = resource.APIServiceDescription  // one of them
	WebhookDescription     = resource.WebhookDescription     // a webhook of an operator
	InstallStrategy        = resource.InstallStrategy        // how an operator is deployed
	StrategySpec           = resource.StrategySpec           // the details
	StrategyDeployment     = resource.StrategyDeployment     // one deployment
)

// The constants of these types, as in package resource.
const (
	ApprovalAutomatic     = resource.ApprovalAutomatic
	ApprovalManual        = resource.ApprovalManual
	StateNone             = resource.StateNone
	StateUpgradeFailed    = resource.StateUpgradeFailed
	StateUpgradeAvailable = resource.StateUpgradeAvailable
	StateUpgradePending   = resource.StateUpgradePending
	StateAtLatestKnown    = resource.StateAtLatestKnown
	PhaseSucceeded        = resource.PhaseSucceeded
	PhaseFailed           = resource.PhaseFailed
	PhaseReplacing        = resource.PhaseReplacing
	ReasonCopied          = resource.ReasonCopied
	PropertiesAnnotation  = resource.PropertiesAnnotation
	WebhookValidating     = resource.WebhookValidating
	WebhookMutating       = resource.WebhookMutating
	WebhookConversion     = resource.WebhookConversion
)

// ParseProperties reads the value of PropertiesAnnotation; see [resource.ParseProperties].
func ParseProperties(annotation string) ([]catalog.Property, error) {
	return resource.ParseProperties(annotation)
}

// FormatProperties writes the value of PropertiesAnnotation; see [resource.FormatProperties].
func FormatProperties(props []catalog.Property) (string, error) {
	return resource.FormatProperties(props)
}
