package resource

import (
	"slices"

	"github.com/fairlead/fairlead"
)

// Condition is a condition that is reported on an object.
type Condition = fairlead.Condition

// State compares what a subscription has with what is known.
type State string

// The states of a subscription.
const (
	StateNone             State = ""                 // nothing was chosen for it yet
	StateUpgradeFailed    State = "UpgradeFailed"    // its plan failed
	StateUpgradeAvailable State = "UpgradeAvailable" // a newer version than the installed one is known
	StateUpgradePending   State = "UpgradePending"   // what was chosen is not installed yet
	StateAtLatestKnown    State = "AtLatestKnown"    // the newest known version is installed
)

// PlanReference names an install plan.
type PlanReference struct {
	Name      string `json:"name"`                // the plan's name
	Namespace string `json:"namespace,omitempty"` // the namespace of the subscription
}

// CatalogHealth says whether a catalog can be used.
type CatalogHealth struct {
	Source  SourceKey `json:"catalogSourceRef"` // the catalog
	Healthy bool      `json:"healthy"`          // whether it answers
}

// Equal reports whether two statuses are the same, except for LastUpdated.
func (s *SubscriptionStatus) Equal(o *SubscriptionStatus) bool {
	samePlan := s.InstallPlanRef == o.InstallPlanRef ||
		s.InstallPlanRef != nil && o.InstallPlanRef != nil && *s.InstallPlanRef == *o.InstallPlanRef
	return samePlan && s.CurrentCSV == o.CurrentCSV && s.InstalledCSV == o.InstalledCSV && s.State == o.State &&
		slices.Equal(s.Conditions, o.Conditions) && slices.Equal(s.CatalogHealth, o.CatalogHealth)
}
