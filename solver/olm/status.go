package olm

import (
	"slices"

	"github.com/fairlead/fairlead"
)

// Condition is one fact that is reported on an object.
type Condition = fairlead.Condition

// State is how a subscription stands to what is known.
type State string

// The states of a subscription.
const (
	StateNone             State = ""                 // nothing was chosen for it yet
	StateUpgradeFailed    State = "UpgradeFailed"    // its plan failed
	StateUpgradeAvailable State = "UpgradeAvailable" // a newer version than the installed one is known
	StateUpgradePending   State = "UpgradePending"   // what was chosen is not installed yet
	StateAtLatestKnown    State = "AtLatestKnown"    // the newest that is known is installed
)

// PlanReference names an install plan.
type PlanReference struct {
	Name      string `json:"name"`                // in the namespace
	Namespace string `json:"namespace,omitempty"` // the subscription's
}

// CatalogHealth is whether a catalog can be used.
type CatalogHealth struct {
	Source  SourceKey `json:"catalogSourceRef"` // the catalog
	Healthy bool      `json:"healthy"`          // whether it answers
}

// Equal reports whether two statuses say the same. When they were written does
// not count.
func (s *SubscriptionStatus) Equal(o *SubscriptionStatus) bool {
	samePlan := s.InstallPlanRef == o.InstallPlanRef ||
		s.InstallPlanRef != nil && o.InstallPlanRef != nil && *s.InstallPlanRef == *o.InstallPlanRef
	return samePlan && s.CurrentCSV == o.CurrentCSV && s.InstalledCSV == o.InstalledCSV && s.State == o.State &&
		slices.Equal(s.Conditions, o.Conditions) && slices.Equal(s.CatalogHealth, o.CatalogHealth)
}
