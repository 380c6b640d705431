package install

import (
	"encoding/json"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/source"
)

// Action is something to do, one of
//
//   - [Unpack], which fetches the objects of a bundle;
//   - [WritePlan] and [DeletePlan], which keep the install plans;
//   - [UpdateSubscription], [CreateSubscription] and [DeleteSubscription];
//   - [ApplyStep], which creates or updates one object of a plan;
//   - [SetPhase] and [Annotate], which write the status of a CSV, and its
//     membership in an operator group;
//   - [Deploy] and [Undeploy], which carry out the install strategy of a CSV, and
//     undo it;
//   - [DeleteCSV] and [DeleteObject], which remove what is no longer wanted;
//   - [UpdateGroup], which writes an operator group's status and its APIs;
//   - [WriteObject], which writes the roles and copies that follow from a group;
//   - [WriteCondition], which keeps operator conditions;
//   - [IssueCertificate] and [SetConversion], which let the API server call the
//     pods of an operator;
//   - [ServeCatalog] and [UpdateCatalog], which keep the catalogs of a namespace;
//   - [ReportUpgradeable], which blocks updates of the cluster.
//
// An action changes an object only if it is still at the action's Revision, which
// the decision was based on; with an empty Revision, only if it does not exist.
// Otherwise a backend returns an error and changes nothing, or returns nil if the
// action is already done. So no action can happen twice, or too late.
//
// As names the service account of the namespace in whose name a backend must carry out
// an action, so that the API server refuses what that account may not do; empty means
// with the backend's own rights. It is that of the operator group for all that operators
// bring, except CRDs and the roles for their APIs. A cluster-scoped object that belongs to
// another namespace, or to nobody known, is never changed: Revision is that of an object
// that was observed as the namespace's own.
type Action interface {
	fairlead.Action
	action() // one of this package
}

// Unpack asks for the content of a bundle to be put into World.Contents.
type Unpack struct {
	Source  olm.SourceKey `json:"source"`  // the catalog
	Package string        `json:"package"` // the package that lists it
	Bundle  string        `json:"bundle"`  // its name
}

// WritePlan creates an install plan, or updates one.
//
// A backend rejects it if the namespace has a plan of a later generation.
type WritePlan struct {
	Plan InstallPlan `json:"plan"` // at its Revision
}

// DeletePlan removes an install plan that will not be carried out, or is no longer
// needed.
type DeletePlan struct {
	Name     string `json:"name"`     // the plan's
	Revision string `json:"revision"` // see Action
}

// UpdateSubscription writes the status of a subscription.
type UpdateSubscription struct {
	Name     string                 `json:"name"`     // the subscription's
	Revision string                 `json:"revision"` // see Action
	Status   olm.SubscriptionStatus `json:"status"`   // the new one
}

// ApplyStep creates or updates an object as a plan says. The backend keeps
// Digest with the object, and reports it in its [Mark].
//
// A backend rejects it if the plan is gone or has failed, or if the namespace has a
// plan of a later generation: then the action comes too late, from a delayed
// runner.
type ApplyStep struct {
	Plan       string          `json:"plan"`               // the plan's name
	Generation int             `json:"generation"`         // the plan's
	Resolving  string          `json:"resolving"`          // the CSV that the object belongs to
	Ref        Ref             `json:"ref"`                // the object
	Manifest   json.RawMessage `json:"manifest"`           // its desired content
	Digest     string          `json:"digest"`             // of Resolving and Manifest
	As         string          `json:"as,omitempty"`       // see Action
	Revision   string          `json:"revision,omitempty"` // see Action
}

// SetPhase writes the status of a CSV.
type SetPhase struct {
	CSV      string    `json:"csv"`               // its name
	Revision string    `json:"revision"`          // see Action
	Phase    olm.Phase `json:"phase"`             // the new one
	Reason   string    `json:"reason"`            // why, as one word
	Message  string    `json:"message,omitempty"` // the same, for people
	// Upgrade means that the CSV succeeds while the CSV that it replaces still
	// exists.
	Upgrade bool `json:"upgrade,omitempty"`
}

// Annotate writes the annotations of a CSV that name its operator group. The
// backend keeps all others.
type Annotate struct {
	CSV         string            `json:"csv"`                   // its name
	Revision    string            `json:"revision"`              // see Action
	Annotations map[string]string `json:"annotations,omitempty"` // those of group.Membership; missing ones are removed
}

// Deploy carries out the install strategy of a CSV: creates or updates its
// deployments, recreates broken ones, and removes other deployments of the CSV. The
// backend keeps Digest with the CSV, and reports it as DeployedDigest.
type Deploy struct {
	CSV         string            `json:"csv"`                   // its name
	Revision    string            `json:"revision"`              // see Action
	Deployments []json.RawMessage `json:"deployments,omitempty"` // in the order of the CSV, with the subscription's config applied
	Digest      string            `json:"digest,omitempty"`      // of Deployments, empty if there are none
	As          string            `json:"as,omitempty"`          // see Action
}

// Undeploy deletes the deployments of a CSV.
type Undeploy struct {
	CSV      string `json:"csv"`      // its name
	Revision string `json:"revision"` // see Action
}

// DeleteCSV removes a CSV with its deployments and its operator condition. Its
// other objects have been removed before, and CRDs stay.
type DeleteCSV struct {
	CSV      string `json:"csv"`      // its name
	Revision string `json:"revision"` // see Action
}

// DeleteObject removes an object that belonged to a CSV, or was generated.
type DeleteObject struct {
	Ref      Ref    `json:"ref"`      // the object
	Owner    string `json:"owner"`    // its Owner; the object stays if it now belongs to another
	Revision string `json:"revision"` // see Action
}

// DeleteSubscription removes a subscription as part of a removal.
type DeleteSubscription struct {
	Name     string `json:"name"`     // the subscription's
	Revision string `json:"revision"` // see Action
}

// CreateSubscription recreates a subscription as part of a refresh.
type CreateSubscription struct {
	Subscription olm.Subscription `json:"subscription"` // without status
}

// UpdateGroup writes the status of an operator group, and the APIs that it provides
// into its annotation.
type UpdateGroup struct {
	Name     string       `json:"name"`            // the group's
	Revision string       `json:"revision"`        // see Action
	Provided group.APIs   `json:"provided"`        // for group.ProvidedAPIsAnnotation
	Status   group.Status `json:"status,omitzero"` // the new one
}

// WriteObject creates or updates an object that follows from the operator group
// and its members: a role, a binding, the copy of a CSV in another namespace. The
// backend keeps Owner and Digest with it.
type WriteObject struct {
	Ref      Ref             `json:"ref"`                // the object
	Manifest json.RawMessage `json:"manifest"`           // its desired content
	Digest   string          `json:"digest"`             // of Manifest
	Owner    string          `json:"owner"`              // the namespace that it is generated for
	As       string          `json:"as,omitempty"`       // see Action
	Revision string          `json:"revision,omitempty"` // see Action
}

// WriteCondition creates the operator condition of a CSV, or updates its status.
type WriteCondition struct {
	Name     string                       `json:"name"`               // that of the CSV
	Revision string                       `json:"revision,omitempty"` // see Action
	Status   gate.OperatorConditionStatus `json:"status,omitzero"`    // the new one
}

// IssueCertificate creates a key, a certificate for it, and an authority that signs
// it, and writes them to a Secret of the namespace: tls.crt and tls.key. The
// authority's key is not stored.
type IssueCertificate struct {
	Name      string    `json:"name"`               // of the Secret
	Revision  string    `json:"revision,omitempty"` // see Action
	Hosts     []string  `json:"hosts"`              // its DNS names, the first is its common name
	As        string    `json:"as,omitempty"`       // see Action
	NotBefore time.Time `json:"notBefore"`          // start of its validity
	NotAfter  time.Time `json:"notAfter"`           // end of its validity
	// Trusted is the previously trusted authority, PEM: the new one is put before
	// it in [Certificate].Authority.
	Trusted string `json:"trusted,omitempty"`
}

// SetConversion has a webhook convert a CRD between its versions or, with an empty
// Service, ends the conversion. The backend keeps Digest with the CRD, and reports
// it as [CRD].Conversion; applying a step to the CRD keeps the conversion.
type SetConversion struct {
	CRD       string `json:"crd"`       // its name
	Revision  string `json:"revision"`  // see Action
	Digest    string `json:"digest"`    // of what follows, empty for no conversion
	Namespace string `json:"namespace"` // of the service
	Service   string `json:"service"`   // that is asked
	Port      int32  `json:"port"`      // of the service
	Path      string `json:"path"`      // that is asked
	Authority string `json:"authority"` // CA bundle, PEM
	// Versions are the review versions that the webhook understands.
	Versions []string `json:"versions"`
}

// ServeCatalog runs the pod of a catalog, or restarts it with a newer image of the
// same name.
type ServeCatalog struct {
	Name      string           `json:"name"`      // the catalog source's
	Revision  string           `json:"revision"`  // see Action
	Image     string           `json:"image"`     // image of the pod
	Placement source.Placement `json:"placement"` // how
	Polled    time.Time        `json:"polled"`    // for status.latestImageRegistryPoll
}

// UpdateCatalog writes the status of a catalog source.
type UpdateCatalog struct {
	Name     string        `json:"name"`     // the catalog source's
	Revision string        `json:"revision"` // see Action
	Status   source.Status `json:"status"`   // the new one
}

// ReportUpgradeable says whether the operators of the namespace block updates of
// the cluster to its next minor version. A cluster may be updated if no namespace
// blocks it.
type ReportUpgradeable struct {
	Condition olm.Condition `json:"condition"` // of type Upgradeable
}
