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

// ClusterVersion says which release a cluster is to run, and how far it is.
type ClusterVersion struct {
	ObjectMeta `json:"metadata"`
	Spec       Spec   `json:"spec"`   // what the administrator asks for
	Status     Status `json:"status"` // what the engine tells
}

// Spec is what the administrator asks for.
type Spec struct {
	ClusterID     string             `json:"clusterID,omitempty"`     // a UUID that tells the cluster from others
	DesiredUpdate *Update            `json:"desiredUpdate,omitempty"` // the release to run; nil means the one that runs
	Upstream      string             `json:"upstream,omitempty"`      // where updates are asked for; empty means the default
	Channel       string             `json:"channel,omitempty"`       // the channel of updates
	Overrides     []payload.Override `json:"overrides,omitempty"`     // resources that are left alone
	Capabilities  *CapabilitiesSpec  `json:"capabilities,omitempty"`  // optional parts; nil means the current set
}

// Update asks for a release.
type Update struct {
	Architecture string       `json:"architecture,omitempty"` // "Multi" asks to change to a release for several architectures
	Version      string       `json:"version,omitempty"`      // a semantic version; empty when the image says it
	Image        string       `json:"image,omitempty"`        // its pull specification; empty when the version says it
	Force        bool         `json:"force,omitempty"`        // go on in spite of failed verification and preconditions
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
	// AdditionalEnabledCapabilities are those on top of the set.
	AdditionalEnabledCapabilities []string `json:"additionalEnabledCapabilities,omitempty"`
}

// Status is what is reported about a cluster's version.
type Status struct {
	Desired            Release             `json:"desired"`                      // the release that the cluster runs or is going to
	History            []History           `json:"history,omitempty"`            // newest first
	ObservedGeneration int64               `json:"observedGeneration"`           // of the spec that this tells of
	VersionHash        string              `json:"versionHash"`                  // of the manifests, see payload.Hash
	Capabilities       CapabilitiesStatus  `json:"capabilities,omitzero"`        // the optional parts
	Conditions         []Condition         `json:"conditions,omitempty"`         // in the order in which they came up
	AvailableUpdates   []Release           `json:"availableUpdates"`             // updates that are recommended; null while nothing is known
	ConditionalUpdates []ConditionalUpdate `json:"conditionalUpdates,omitempty"` // updates with risks

	// ConditionalUpdateRisks are the risks of ConditionalUpdates, each once, by
	// name, with what is known of them. They and RiskNames are left out where the
	// feature gates are known and ClusterUpdateAcceptRisks is not enabled.
	ConditionalUpdateRisks []ConditionalUpdateRisk `json:"conditionalUpdateRisks,omitempty"`
}

// Release is one release.
type Release struct {
	Version      string   `json:"version,omitempty"`      // a semantic version
	Image        string   `json:"image,omitempty"`        // its pull specification
	URL          string   `json:"url,omitempty"`          // where people can read of it
	Channels     []string `json:"channels,omitempty"`     // that it is in
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
	Risks      []graph.Risk `json:"risks"`                // which it has
	Conditions []Condition  `json:"conditions,omitempty"` // Recommended
}

// ConditionalUpdateRisk is a risk of updates, and whether it is the cluster's.
type ConditionalUpdateRisk struct {
	Name          string       `json:"name"`                 // by which it can be accepted
	Message       string       `json:"message"`              // what may go wrong
	URL           string       `json:"url"`                  // where people can read of it
	MatchingRules []graph.Rule `json:"matchingRules"`        // which clusters are exposed
	Conditions    []Condition  `json:"conditions,omitempty"` // Applies
}

// HistoryState says whether a release was applied whole.
type HistoryState string

// The states of a history entry.
const (
	Partial   HistoryState = "Partial"   // it was begun
	Completed HistoryState = "Completed" // all of it was applied at least once
)

// History is one release that the cluster went to.
type History struct {
	State          HistoryState `json:"state"`                   // Partial or Completed
	StartedTime    time.Time    `json:"startedTime"`             // when it was begun
	CompletionTime *time.Time   `json:"completionTime"`          // when it was completed, or given up for another one; null while it is neither
	Version        string       `json:"version"`                 // empty while it is not known
	Image          string       `json:"image"`                   // its pull specification
	Verified       bool         `json:"verified"`                // its signature was verified
	AcceptedRisks  string       `json:"acceptedRisks,omitempty"` // what spoke against it and was overridden
}

// ClusterOperator is what an operator reports.
type ClusterOperator struct {
	ObjectMeta `json:"metadata"`
	Status     OperatorStatus `json:"status"` // its report
}

// OperatorStatus is the report of an operator.
type OperatorStatus struct {
	Conditions []Condition `json:"conditions,omitempty"` // Available, Progressing, Degraded, Upgradeable
	Versions   []Operand   `json:"versions,omitempty"`   // what it has reached
}

// Operand is a part of an operator and the version it has.
type Operand struct {
	Name    string `json:"name"`    // "operator" for the operator as a whole
	Version string `json:"version"` // what it has reached
}
