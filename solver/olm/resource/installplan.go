package resource

import "time"

// PlanPhase is the phase of an install plan.
type PlanPhase string

// The phases of an install plan that are written.
const (
	PlanRequiresApproval PlanPhase = "RequiresApproval" // it waits for someone to approve it
	PlanInstalling       PlanPhase = "Installing"       // its steps are being applied
	PlanComplete         PlanPhase = "Complete"         // all its steps have been applied
	PlanFailed           PlanPhase = "Failed"           // it took too long, or a step too many attempts
)

// StepStatus is the status of a step of an install plan.
type StepStatus string

// The statuses of a step that are written.
const (
	StepUnknown StepStatus = "Unknown" // it has not been applied, as far as is known
	StepCreated StepStatus = "Created" // it has been applied
)

// InstallPlan lists the objects needed to install or update some operators of a
// namespace. Its JSON form is that of the API.
type InstallPlan struct {
	ObjectMeta `json:"metadata"`
	Spec       InstallPlanSpec   `json:"spec"`   // what it is for
	Status     InstallPlanStatus `json:"status"` // its steps
	// Revision is the observed revision of the plan, see Mark.
	Revision string `json:"revision,omitempty"`
}

// InstallPlanSpec is what an install plan is for.
type InstallPlanSpec struct {
	// Approval is Manual if any subscription of the namespace is, because a plan
	// serves all of them.
	Approval Approval `json:"approval"`
	// Approved lets the plan run. Users set it on a plan that is Manual.
	Approved bool `json:"approved"`
	// ClusterServiceVersionNames are the CSVs that it installs, in plan order.
	ClusterServiceVersionNames []string `json:"clusterServiceVersionNames"`
	// Generation counts the plans of a namespace.
	Generation int `json:"generation,omitempty"`
}

// InstallPlanStatus is the progress of an install plan.
type InstallPlanStatus struct {
	Phase PlanPhase `json:"phase"` // of the whole plan
	// CatalogSources are the names of the catalogs that it takes from, sorted.
	CatalogSources []string `json:"catalogSources"`
	// Plan lists the steps: CSVs, then CRDs, then the rest. Each of the three is
	// complete before the next starts.
	Plan []PlanStep `json:"plan,omitempty"`
	// Message says why it does not proceed, and StartTime since when it is carried out.
	Message   string    `json:"message,omitempty"`
	StartTime time.Time `json:"startTime,omitzero"` // see Message
	// BundleLookups are the bundles that it unpacks.
	BundleLookups []BundleLookup `json:"bundleLookups,omitempty"`
	// Conditions has PlanInstalled once the plan is complete, or has failed.
	Conditions []Condition `json:"conditions,omitempty"`
}

// BundleLookup is a bundle that a plan unpacks.
type BundleLookup struct {
	Identifier string      `json:"identifier"`                 // the CSV
	Path       string      `json:"path"`                       // the image
	Source     *SourceKey  `json:"catalogSourceRef,omitempty"` // the catalog
	Conditions []Condition `json:"conditions,omitempty"`       // BundleLookupPending and BundleLookupFailed
}

// PlanInstalled is the condition of a plan that says whether its steps were
// applied. False comes with ReasonPlanFailed and the cause.
const PlanInstalled = "Installed"

// PlanStep is one object of an install plan.
type PlanStep struct {
	Resolving string       `json:"resolving"` // the CSV that it belongs to
	Resource  StepResource `json:"resource"`  // the object
	Status    StepStatus   `json:"status"`    // where it stands
}

// StepResource is the object of a step.
type StepResource struct {
	SourceName      string `json:"sourceName"`      // the catalog that it is from
	SourceNamespace string `json:"sourceNamespace"` // where the catalog lives
	Group           string `json:"group"`           // the object's API group
	Version         string `json:"version"`         // its API version
	Kind            string `json:"kind"`            // its kind
	Name            string `json:"name"`            // its name
	Manifest        string `json:"manifest"`        // the object, as JSON
}
