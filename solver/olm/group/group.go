package group

import (
	"time"

	"github.com/fairlead/fairlead"
)

// ObjectMeta is the part of an object's metadata that is read.
type ObjectMeta = fairlead.ObjectMeta

// LabelSelector picks objects by their labels.
type LabelSelector = fairlead.LabelSelector

// Condition is one fact that is reported on an object.
type Condition = fairlead.Condition

// PolicyRule is one permission.
type PolicyRule = fairlead.PolicyRule

// The annotations of operator groups and of their members.
const (
	// ProvidedAPIsAnnotation on a group lists the APIs that its members provide;
	// see APIs.
	ProvidedAPIsAnnotation = "olm.providedAPIs"
	// NameAnnotation on a CSV names its group.
	NameAnnotation = "olm.operatorGroup"
	// NamespaceAnnotation on a CSV names its group's namespace.
	NamespaceAnnotation = "olm.operatorNamespace"
	// TargetsAnnotation on a CSV lists the namespaces that its operator watches,
	// sorted and separated by commas. Copies do not have it.
	TargetsAnnotation = "olm.targetNamespaces"
	// ExcludeGlobalNamespaceAnnotation on a group, with the value "true", hides
	// the catalogs of the global namespace from its namespace.
	ExcludeGlobalNamespaceAnnotation = "olm.operatorframework.io/exclude-global-namespace-resolution"
)

// UpgradeStrategy says what may happen to an operator whose update failed.
type UpgradeStrategy string

// The strategies of the API. Empty counts as UpgradeDefault.
const (
	// UpgradeDefault leaves a failed update alone until someone fixes it.
	UpgradeDefault UpgradeStrategy = "Default"
	// UpgradeFailForward lets a newer version replace one that failed.
	UpgradeFailForward UpgradeStrategy = "TechPreviewUnsafeFailForward"
)

// OperatorGroup says which namespaces the operators of its own namespace
// watch.
type OperatorGroup struct {
	ObjectMeta `json:"metadata"`
	Spec       Spec   `json:"spec"`   // its desired state
	Status     Status `json:"status"` // its observed state
}

// Spec is the desired state of an operator group.
type Spec struct {
	// TargetNamespaces are the namespaces to watch. If there are any, Selector is
	// ignored.
	TargetNamespaces []string `json:"targetNamespaces,omitempty"`
	// Selector picks the namespaces to watch by their labels. An empty one means
	// all namespaces.
	Selector *LabelSelector `json:"selector,omitempty"`
	// ServiceAccountName is the account that operators are installed as; empty
	// means that nothing limits them.
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// StaticProvidedAPIs keeps ProvidedAPIsAnnotation as written.
	StaticProvidedAPIs bool `json:"staticProvidedAPIs,omitempty"`
	// UpgradeStrategy says what may happen after a failed update.
	UpgradeStrategy UpgradeStrategy `json:"upgradeStrategy,omitempty"`
}

// Status is the observed state of an operator group.
type Status struct {
	// Namespaces are those selected, sorted; [""] means all. See
	// OperatorGroup.Targets.
	Namespaces []string `json:"namespaces,omitempty"`
	// ServiceAccountRef is the account of the spec, once it has been found.
	ServiceAccountRef *AccountReference `json:"serviceAccountRef,omitempty"`
	// LastUpdated is when the status was last written.
	LastUpdated time.Time `json:"lastUpdated,omitzero"`
	// Conditions are those that OperatorGroup.Conditions returns.
	Conditions []Condition `json:"conditions,omitempty"`
}

// AccountReference names a service account.
type AccountReference struct {
	Kind      string `json:"kind,omitempty"`      // ServiceAccount
	Namespace string `json:"namespace,omitempty"` // where it lives
	Name      string `json:"name,omitempty"`      // its name
}

// ExcludesGlobal reports whether the catalogs of the global namespace are
// hidden from the group's namespace. A nil group hides nothing.
func (g *OperatorGroup) ExcludesGlobal() bool {
	return g != nil && g.Annotations[ExcludeGlobalNamespaceAnnotation] == "true"
}

// FailsForward reports whether a newer version may replace one whose update
// failed. A nil group allows nothing.
func (g *OperatorGroup) FailsForward() bool {
	return g != nil && g.Spec.UpgradeStrategy == UpgradeFailForward
}

// Provided returns the APIs of the group's annotation. Parts of it that are not
// APIs are skipped.
func (g *OperatorGroup) Provided() APIs {
	apis, _ := ParseAPIs(g.Annotations[ProvidedAPIsAnnotation])
	return apis
}

// Surface returns the namespaces in which the group's operators may conflict with
// those of others: its targets and its own. It is empty while nothing is selected.
func (g *OperatorGroup) Surface() Namespaces {
	if len(g.Status.Namespaces) == 0 {
		return nil
	}
	return NewNamespaces(append([]string{g.Namespace}, g.Status.Namespaces...)...)
}
