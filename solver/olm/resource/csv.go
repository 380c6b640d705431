package resource

import (
	"encoding/json"
	"time"

	"github.com/fairlead/fairlead/solver/olm/group"
)

// Phase is the phase of a CSV in its lifecycle.
type Phase string

// The phases of a CSV that resolution distinguishes; there are others.
const (
	PhaseSucceeded Phase = "Succeeded"
	PhaseFailed    Phase = "Failed"
	PhaseReplacing Phase = "Replacing"
)

// ReasonCopied is the status reason of a CSV that is a copy of one installed in
// another namespace. Resolution ignores copies.
const ReasonCopied = "Copied"

// ClusterServiceVersion is an installed operator.
type ClusterServiceVersion struct {
	ObjectMeta `json:"metadata"`
	Spec       CSVSpec   `json:"spec"`   // its definition
	Status     CSVStatus `json:"status"` // its state
}

// CSVSpec is the part of a CSV's spec that resolution reads.
type CSVSpec struct {
	// Version is the operator's version, parsed tolerantly; empty if it states
	// none.
	Version string `json:"version,omitempty"`
	// Replaces names the CSV that it replaced or is replacing.
	Replaces string `json:"replaces,omitempty"`
	// CustomResourceDefinitions and APIServiceDefinitions are the APIs that it
	// provides and requires. Resolution reads them only if PropertiesAnnotation
	// is absent.
	CustomResourceDefinitions CRDDescriptions        `json:"customresourcedefinitions"`
	APIServiceDefinitions     APIServiceDescriptions `json:"apiservicedefinitions"` // see CustomResourceDefinitions
	// InstallModes are the install modes that it supports; resolution does not
	// read them.
	InstallModes group.InstallModes `json:"installModes,omitempty"`
	// Install is how it is deployed; resolution does not read it.
	Install InstallStrategy `json:"install,omitzero"`
	// WebhookDefinitions are the webhooks that it provides; resolution does not
	// read them.
	WebhookDefinitions []WebhookDescription `json:"webhookdefinitions,omitempty"`
	// MinKubeVersion is the lowest Kubernetes version that it runs on; empty
	// means any. Resolution does not read it.
	MinKubeVersion string `json:"minKubeVersion,omitempty"`
	// Cleanup says whether OLM deletes its custom resources when it is deleted;
	// resolution does not read it.
	Cleanup Cleanup `json:"cleanup,omitzero"`
}

// Cleanup is what happens to the custom resources of a CSV that is deleted.
type Cleanup struct {
	Enabled bool `json:"enabled"` // OLM deletes them, and waits until they are gone
}

// CSVStatus is the part of a CSV's status that resolution reads.
type CSVStatus struct {
	Phase  Phase  `json:"phase,omitempty"`  // read only for fail-forward
	Reason string `json:"reason,omitempty"` // read only for ReasonCopied
	// Message says in a sentence why it is in its phase, and LastTransitionTime since
	// when. Resolution does not read them.
	Message            string    `json:"message,omitempty"`
	LastTransitionTime time.Time `json:"lastTransitionTime,omitzero"` // see Message
	// Requirements are what it requires, and whether that is there, in OLM's order.
	// Resolution does not read them.
	Requirements []Requirement `json:"requirementStatus,omitempty"`
}

// Requirement is an object that a CSV requires.
type Requirement struct {
	Version    string      `json:"version,omitempty"`    // of a definition
	Kind       string      `json:"kind"`                 // of the object
	Name       string      `json:"name"`                 // of the object
	Status     string      `json:"status"`               // Present, NotPresent, PresentNotSatisfied or PresentNotAvailable
	Message    string      `json:"message,omitempty"`    // for people
	Dependents []Dependent `json:"dependents,omitempty"` // its parts
}

// Dependent is a part of a requirement: a rule that a service account needs.
type Dependent struct {
	Status  string `json:"status"`            // Satisfied or NotSatisfied
	Message string `json:"message,omitempty"` // scope and rule
}

// CRDDescriptions lists the CRDs that a CSV owns and requires.
type CRDDescriptions struct {
	Owned    []CRDDescription `json:"owned,omitempty"`    // provided, in any order
	Required []CRDDescription `json:"required,omitempty"` // required of other operators, in any order
}

// CRDDescription names a CRD as "plural.group" and one version of it.
type CRDDescription struct {
	Name    string `json:"name"`    // PLURAL.GROUP
	Version string `json:"version"` // one version of it
	Kind    string `json:"kind"`    // as objects state it
}

// APIServiceDescriptions lists the aggregated APIs that a CSV owns and
// requires.
type APIServiceDescriptions struct {
	Owned    []APIServiceDescription `json:"owned,omitempty"`    // provided, in any order
	Required []APIServiceDescription `json:"required,omitempty"` // required of other operators, in any order
}

// APIServiceDescription names an aggregated API; Name is its plural.
type APIServiceDescription struct {
	Name    string `json:"name"`    // the plural; not read
	Group   string `json:"group"`   // the API group
	Version string `json:"version"` // one version of it
	Kind    string `json:"kind"`    // as objects state it
	// DeploymentName is the deployment whose pods serve an owned API, and
	// ContainerPort their port, 443 if it is 0. Resolution does not read them.
	DeploymentName string `json:"deploymentName,omitempty"`
	ContainerPort  int32  `json:"containerPort,omitempty"` // see DeploymentName
}

// The types of webhooks.
const (
	WebhookValidating = "ValidatingAdmissionWebhook" // validates objects before they are written
	WebhookMutating   = "MutatingAdmissionWebhook"   // changes objects before they are written
	WebhookConversion = "ConversionWebhook"          // converts objects between versions of a CRD
)

// WebhookDescription is a webhook that an operator provides. Fields that are
// not interpreted here are passed on unchanged.
type WebhookDescription struct {
	GenerateName   string   `json:"generateName"`             // its name, and the prefix of the name of its configuration
	Type           string   `json:"type"`                     // one of the constants
	DeploymentName string   `json:"deploymentName"`           // the deployment whose pods answer
	ContainerPort  int32    `json:"containerPort,omitempty"`  // the port of the service; 0 means 443
	Path           string   `json:"webhookPath,omitempty"`    // the path of its URL
	ConversionCRDs []string `json:"conversionCRDs,omitempty"` // the CRDs that it converts

	TargetPort              json.RawMessage `json:"targetPort,omitempty"`              // the port of the pods; nil means ContainerPort
	Rules                   json.RawMessage `json:"rules,omitempty"`                   // which requests are sent to it
	ObjectSelector          json.RawMessage `json:"objectSelector,omitempty"`          // for which objects
	FailurePolicy           string          `json:"failurePolicy,omitempty"`           // Fail or Ignore
	MatchPolicy             string          `json:"matchPolicy,omitempty"`             // Exact or Equivalent
	SideEffects             string          `json:"sideEffects,omitempty"`             // None or NoneOnDryRun
	ReinvocationPolicy      string          `json:"reinvocationPolicy,omitempty"`      // Never or IfNeeded, for a mutating webhook
	TimeoutSeconds          *int32          `json:"timeoutSeconds,omitempty"`          // how long it may take
	AdmissionReviewVersions []string        `json:"admissionReviewVersions,omitempty"` // the review versions that it accepts
}

// Copied reports whether the CSV is a copy of one in another namespace.
func (c *ClusterServiceVersion) Copied() bool {
	return c.Status.Reason == ReasonCopied
}
