package cvo

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/payload"
)

// ObjectMeta is the part of an object's metadata that is read.
type ObjectMeta = fairlead.ObjectMeta

// Condition is one fact that a controller reports on an object.
type Condition = fairlead.Condition

// ConditionStatus is True, False or Unknown.
type ConditionStatus = fairlead.ConditionStatus

// The values of a condition.
const (
	True    = fairlead.ConditionTrue
	False   = fairlead.ConditionFalse
	Unknown = fairlead.ConditionUnknown
)

// ClusterVersion says which release a cluster should run, and how far the update
// is.
type ClusterVersion struct {
	ObjectMeta `json:"metadata"`
	Spec       Spec   `json:"spec"`   // the desired state
	Status     Status `json:"status"` // the observed state
}

// Spec is what the administrator requests.
type Spec struct {
	ClusterID     string             `json:"clusterID,omitempty"`     // a UUID that identifies the cluster
	DesiredUpdate *Update            `json:"desiredUpdate,omitempty"` // the release to run; nil means the current one
	Upstream      string             `json:"upstream,omitempty"`      // the update service; empty means the default
	Channel       string             `json:"channel,omitempty"`       // the channel of updates
	Overrides     []payload.Override `json:"overrides,omitempty"`     // resources that are left alone
	Capabilities  *CapabilitiesSpec  `json:"capabilities,omitempty"`  // optional parts; nil means the current set
}

// Update requests a release.
type Update struct {
	Architecture string       `json:"architecture,omitempty"` // "Multi" requests a release for several architectures
	Version      string       `json:"version,omitempty"`      // a semantic version; may be empty if image is set
	Image        string       `json:"image,omitempty"`        // its pull specification; may be empty if version is set
	Force        bool         `json:"force,omitempty"`        // ignore failed verification and preconditions
	AcceptRisks  []AcceptRisk `json:"acceptRisks,omitempty"`  // risks of conditional updates that the administrator accepts
}

// AcceptRisk names a risk that the administrator accepts.
type AcceptRisk struct {
	Name string `json:"name"` // of the risk
}

// CapabilitiesSpec says which optional parts a cluster has.
type CapabilitiesSpec struct {
	// BaselineCapabilitySet names a set, such as None, v4.18 or vCurrent, the
	// default.
	BaselineCapabilitySet string `json:"baselineCapabilitySet,omitempty"`
	// AdditionalEnabledCapabilities are enabled in addition to the set.
	AdditionalEnabledCapabilities []string `json:"additionalEnabledCapabilities,omitempty"`
}

// Status is the observed state of a cluster's version.
type Status struct {
	Desired            Release             `json:"desired"`                      // the release that the cluster runs or is being updated to
	History            []History           `json:"history,omitempty"`            // newest first
	ObservedGeneration int64               `json:"observedGeneration"`           // of the spec that this status is for
	VersionHash        string              `json:"versionHash"`                  // of the manifests, see payload.Hash
	Capabilities       CapabilitiesStatus  `json:"capabilities,omitzero"`        // the optional parts
	Conditions         []Condition         `json:"conditions,omitempty"`         // in the order in which they first appeared
	AvailableUpdates   []Release           `json:"availableUpdates"`             // recommended updates; null if unknown
	ConditionalUpdates []ConditionalUpdate `json:"conditionalUpdates,omitempty"` // updates with risks

	// ConditionalUpdateRisks are the risks of ConditionalUpdates, each once, by
	// name, with what is known about them. They and RiskNames are left out if the
	// feature gates are known and ClusterUpdateAcceptRisks is not enabled.
	ConditionalUpdateRisks []ConditionalUpdateRisk `json:"conditionalUpdateRisks,omitempty"`
}

// Release is one release.
type Release struct {
	Version      string   `json:"version,omitempty"`      // a semantic version
	Image        string   `json:"image,omitempty"`        // its pull specification
	URL          string   `json:"url,omitempty"`          // its documentation
	Channels     []string `json:"channels,omitempty"`     // the channels that it is in
	Architecture string   `json:"architecture,omitempty"` // "Multi", or empty
}

// CapabilitiesStatus reports the optional parts.
type CapabilitiesStatus struct {
	EnabledCapabilities []string `json:"enabledCapabilities,omitempty"` // sorted
	KnownCapabilities   []string `json:"knownCapabilities,omitempty"`   // sorted
}

// ConditionalUpdate is an update with risks.
type ConditionalUpdate struct {
	Release    Release      `json:"release"`              // to update to
	RiskNames  []string     `json:"riskNames,omitempty"`  // the names of its risks, sorted, each once
	Risks      []graph.Risk `json:"risks"`                // its risks
	Conditions []Condition  `json:"conditions,omitempty"` // Recommended
}

// ConditionalUpdateRisk is a risk of updates, and whether it is the cluster's.
type ConditionalUpdateRisk struct {
	Name          string       `json:"name"`                 // for accepting it
	Message       string       `json:"message"`              // what may go wrong
	URL           string       `json:"url"`                  // its documentation
	MatchingRules []graph.Rule `json:"matchingRules"`        // which clusters are exposed
	Conditions    []Condition  `json:"conditions,omitempty"` // Applies
}

// HistoryState says whether a release was applied completely.
type HistoryState string

// The states of a history entry.
const (
	Partial   HistoryState = "Partial"   // it was started
	Completed HistoryState = "Completed" // all of it was applied at least once
)

// History is one release that the cluster was updated to.
type History struct {
	State          HistoryState `json:"state"`                   // Partial or Completed
	StartedTime    time.Time    `json:"startedTime"`             // when it was started
	CompletionTime *time.Time   `json:"completionTime"`          // when it was completed, or replaced by another one; null until then
	Version        string       `json:"version"`                 // empty if not yet known
	Image          string       `json:"image"`                   // its pull specification
	Verified       bool         `json:"verified"`                // its signature was verified
	AcceptedRisks  string       `json:"acceptedRisks,omitempty"` // the reasons against it that were overridden
}

// ClusterOperator is what an operator reports.
type ClusterOperator struct {
	ObjectMeta `json:"metadata"`
	Status     OperatorStatus `json:"status"` // its report
}

// OperatorStatus is the report of an operator.
type OperatorStatus struct {
	Conditions []Condition `json:"conditions,omitempty"` // Available, Progressing, Degraded, Upgradeable
	Versions   []Operand   `json:"versions,omitempty"`   // the versions that it has reached
}

// Operand is a part of an operator and the version it has.
type Operand struct {
	Name    string `json:"name"`    // "operator" for the operator as a whole
	Version string `json:"version"` // the version that it has reached
}
