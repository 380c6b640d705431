package install

import (
	"encoding/json"
	"strings"

	"github.com/fairlead/fairlead/solver/olm"
)

// Action is something to do, one of
//
//   - [Unpack], which fetches the objects of a bundle;
//   - [WritePlan] and [DeletePlan], which keep the install plans;
//   - [UpdateSubscription], which writes the status of a subscription;
//   - [ApplyStep], which creates or updates one object of a plan;
//   - [SetPhase], which writes the status of a CSV;
//   - [Deploy], which carries out the install strategy of a CSV;
//   - [DeleteCSV], which removes a CSV that was replaced.
//
// An action changes an object only if it is still at the action's Revision,
// the one that the decision was made on; with the empty Revision only if it
// does not exist. Otherwise a backend returns an error and changes nothing,
// or nil if the object is as the action wants it already. So no action can
// take place twice, or too late.
type Action interface {
	key() string
}

// Key tells which action a is: it is the same each time that the same thing is
// to be done, and different for different things.
func Key(a Action) string { return a.key() }

// Unpack asks for the content of a bundle to be put into World.Contents.
type Unpack struct {
	Candidate olm.Candidate `json:"candidate"` // the bundle
}

// WritePlan creates an install plan, or updates one.
//
// A backend refuses it when there is a plan of a later generation in the
// namespace.
type WritePlan struct {
	Plan InstallPlan `json:"plan"` // at its Revision
}

// DeletePlan removes an install plan that will not be carried out, or is too
// old to be of interest.
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
// A backend refuses it when there is a plan of a later generation in the
// namespace: then this one comes too late, from a runner that was held up.
type ApplyStep struct {
	Plan       string          `json:"plan"`               // the plan's name
	Generation int             `json:"generation"`         // the plan's
	Resolving  string          `json:"resolving"`          // the CSV that the object belongs to
	Ref        Ref             `json:"ref"`                // the object
	Manifest   json.RawMessage `json:"manifest"`           // what it shall be
	Digest     string          `json:"digest"`             // of Resolving and Manifest
	Revision   string          `json:"revision,omitempty"` // see Action
}

// SetPhase writes the status of a CSV.
type SetPhase struct {
	CSV      string    `json:"csv"`               // its name
	Revision string    `json:"revision"`          // see Action
	Phase    olm.Phase `json:"phase"`             // the new one
	Reason   string    `json:"reason"`            // why, as one word
	Message  string    `json:"message,omitempty"` // why, for people
}

// Deploy carries out the install strategy of a CSV: creates its deployments,
// or again those that are broken.
type Deploy struct {
	CSV      string `json:"csv"`      // its name
	Revision string `json:"revision"` // see Action
}

// DeleteCSV removes a CSV and what belongs to it: its deployments, and the
// objects of the cluster that are owned by it. CRDs stay.
type DeleteCSV struct {
	CSV      string `json:"csv"`      // its name
	Revision string `json:"revision"` // see Action
}

func (a Unpack) key() string { return "unpack " + a.Candidate.Source.String() + " " + a.Candidate.Name }
func (a WritePlan) key() string {
	return "write plan " + a.Plan.Name + " " + string(a.Plan.Status.Phase)
}
func (a DeletePlan) key() string { return "delete plan " + a.Name }
func (a UpdateSubscription) key() string {
	return strings.TrimSpace("update subscription " + a.Name + " " + string(a.Status.State) + " " + a.Status.CurrentCSV + " " + a.Status.InstalledCSV)
}
func (a ApplyStep) key() string { return "apply " + a.Plan + " " + a.Ref.String() }
func (a SetPhase) key() string {
	return "phase " + a.CSV + " " + string(a.Phase) + " " + a.Reason
}
func (a Deploy) key() string    { return "deploy " + a.CSV }
func (a DeleteCSV) key() string { return "delete csv " + a.CSV }
