package olm

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/config"
)

// ObjectMeta is the part of an object's metadata that is read.
type ObjectMeta = fairlead.ObjectMeta

// Approval says who lets an install plan run.
type Approval string

// The two approvals of the API. Empty counts as ApprovalAutomatic.
const (
	ApprovalAutomatic Approval = "Automatic"
	ApprovalManual    Approval = "Manual"
)

// Subscription asks that an operator of a package be installed in its
// namespace and kept up to date along a channel.
type Subscription struct {
	ObjectMeta `json:"metadata"`
	Spec       SubscriptionSpec   `json:"spec"`   // what it asks for
	Status     SubscriptionStatus `json:"status"` // what came of it so far
}

// SubscriptionSpec is what a subscription asks for.
type SubscriptionSpec struct {
	// Package is the package's name; the API calls it name.
	Package string `json:"name"`
	// Channel narrows the choice to one channel; empty means any of them, the
	// default channel first.
	Channel string `json:"channel,omitempty"`
	// Source and SourceNamespace name the catalog to take it from; both empty
	// mean every catalog that the namespace sees.
	Source          string `json:"source,omitempty"`
	SourceNamespace string `json:"sourceNamespace,omitempty"` // see Source
	// StartingCSV pins the first installation. It counts only while nothing is
	// installed.
	StartingCSV string `json:"startingCSV,omitempty"`
	// InstallPlanApproval is kept for the plan; resolution does not read it.
	InstallPlanApproval Approval `json:"installPlanApproval,omitempty"`
	// Config changes the deployments of the operator; resolution does not read
	// it.
	Config *config.Config `json:"config,omitempty"`
}

// SubscriptionStatus is what the last passes did for a subscription.
type SubscriptionStatus struct {
	// CurrentCSV is the CSV that was chosen last, installed or on its way.
	CurrentCSV string `json:"currentCSV,omitempty"`
	// InstalledCSV is the CSV that stands installed for the subscription. If no
	// CSV of that name exists, the subscription is served as a new one.
	InstalledCSV string `json:"installedCSV,omitempty"`
	// State is how what is installed stands to what is known.
	State State `json:"state,omitempty"`
	// InstallPlanRef names the plan that installs CurrentCSV, or did.
	InstallPlanRef *PlanReference `json:"installPlanRef,omitempty"`
	// Conditions tell what is wrong, or under way.
	Conditions []Condition `json:"conditions,omitempty"`
	// CatalogHealth is that of the catalogs the namespace sees, by namespace and
	// name.
	CatalogHealth []CatalogHealth `json:"catalogHealth,omitempty"`
	// LastUpdated is when the status last changed.
	LastUpdated time.Time `json:"lastUpdated,omitzero"`
}

// SourceKey names a catalog in the cluster.
type SourceKey struct {
	Name      string `json:"name"`                // unique in its namespace
	Namespace string `json:"namespace,omitempty"` // where it lives
}

// String returns "namespace/name", or the name alone where there is no
// namespace.
func (k SourceKey) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

func (k SourceKey) compare(o SourceKey) int {
	if c := strings.Compare(k.Name, o.Name); c != 0 {
		return c
	}
	return strings.Compare(k.Namespace, o.Namespace)
}

func (s *Subscription) source() SourceKey {
	return SourceKey{Name: s.Spec.Source, Namespace: s.Spec.SourceNamespace}
}
