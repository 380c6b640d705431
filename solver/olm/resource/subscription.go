package resource

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/config"
)

// ObjectMeta is the part of an object's metadata that is read.
type ObjectMeta = fairlead.ObjectMeta

// Approval says how an install plan is approved.
type Approval string

// The two approvals of the API. Empty counts as ApprovalAutomatic.
const (
	ApprovalAutomatic Approval = "Automatic"
	ApprovalManual    Approval = "Manual"
)

// Subscription requests that an operator of a package be installed in its
// namespace and kept up to date along a channel.
type Subscription struct {
	ObjectMeta `json:"metadata"`
	Spec       SubscriptionSpec   `json:"spec"`   // what it requests
	Status     SubscriptionStatus `json:"status"` // the result so far
}

// SubscriptionSpec is what a subscription requests.
type SubscriptionSpec struct {
	// Package is the package's name; the API calls it name.
	Package string `json:"name"`
	// Channel narrows the choice to one channel; empty means any of them, the
	// default channel first.
	Channel string `json:"channel,omitempty"`
	// Source and SourceNamespace name the catalog to take it from; both empty
	// mean every catalog that is visible in the namespace.
	Source          string `json:"source,omitempty"`
	SourceNamespace string `json:"sourceNamespace,omitempty"` // see Source
	// StartingCSV pins the first installation. It applies only while nothing is
	// installed.
	StartingCSV string `json:"startingCSV,omitempty"`
	// InstallPlanApproval is passed on to the plan; resolution does not read it.
	InstallPlanApproval Approval `json:"installPlanApproval,omitempty"`
	// Config changes the deployments of the operator; resolution does not read
	// it.
	Config *config.Config `json:"config,omitempty"`
}

// SubscriptionStatus is the result of the last passes for a subscription.
type SubscriptionStatus struct {
	// CurrentCSV is the CSV that was chosen last, installed or being installed.
	CurrentCSV string `json:"currentCSV,omitempty"`
	// InstalledCSV is the CSV that is installed for the subscription. If no CSV
	// of that name exists, the subscription is served as a new one.
	InstalledCSV string `json:"installedCSV,omitempty"`
	// State compares the installed operator with what is known.
	State State `json:"state,omitempty"`
	// InstallPlanRef names the plan that installs or installed CurrentCSV.
	InstallPlanRef *PlanReference `json:"installPlanRef,omitempty"`
	// Conditions report what is wrong or in progress.
	Conditions []Condition `json:"conditions,omitempty"`
	// CatalogHealth is the health of the catalogs that are visible in the
	// namespace, by namespace and name.
	CatalogHealth []CatalogHealth `json:"catalogHealth,omitempty"`
	// LastUpdated is when the status last changed.
	LastUpdated time.Time `json:"lastUpdated,omitzero"`
}

// SourceKey names a catalog in the cluster.
type SourceKey struct {
	Name      string `json:"name"`                // unique in its namespace
	Namespace string `json:"namespace,omitempty"` // the namespace that it is in
}

// String returns "namespace/name", or the name alone where there is no
// namespace.
func (k SourceKey) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// Compare orders keys by name, then by namespace: -1, 0 or 1.
func (k SourceKey) Compare(o SourceKey) int {
	if c := strings.Compare(k.Name, o.Name); c != 0 {
		return c
	}
	return strings.Compare(k.Namespace, o.Namespace)
}

// Source returns the catalog that the subscription names; zero if it names none.
func (s *Subscription) Source() SourceKey {
	return SourceKey{Name: s.Spec.Source, Namespace: s.Spec.SourceNamespace}
}
