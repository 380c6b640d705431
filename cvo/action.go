package cvo

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/payload"
)

// Action is one thing to be done, one of
//
//   - [Retrieve], which fetches a release;
//   - [Apply], which brings a manifest into the cluster;
//   - [Delete], which deletes a resource whose manifest requests deletion;
//   - [WriteStatus], which writes the status of the ClusterVersion.
//
// It may be applied again: the result is the same.
type Action interface {
	fairlead.Action

	action()
}

// Retrieve fetches a release image, has its signature checked, and reads its payload.
// The result appears as a Retrieved in the world.
type Retrieve struct {
	Attempt string  `json:"attempt"` // identifies this attempt
	Release Release `json:"release"` // which one; its version may be missing
	Try     int     `json:"try"`     // attempts before this one
	// Force requests the payload even if the image cannot be verified. Without it, an
	// image without a valid signature should not be fetched at all.
	Force bool `json:"force,omitempty"`
}

// Apply applies a manifest: it creates the resource, or updates it to match the
// manifest; a create-only manifest is not updated. A ClusterOperator is only created:
// its status belongs to the operator.
type Apply struct {
	Attempt  string            `json:"attempt"`  // identifies this attempt
	Manifest *payload.Manifest `json:"manifest"` // what to apply
	Label    string            `json:"label"`    // for messages: deployment "ns/name" (3 of 12)
	Release  Release           `json:"release"`  // the release that it is from
	Mode     Mode              `json:"mode"`     // what the pass is for
}

// Delete removes the resource of a manifest that requests its deletion.
type Delete struct {
	Attempt  string            `json:"attempt"`  // identifies this attempt
	Manifest *payload.Manifest `json:"manifest"` // which one
	Label    string            `json:"label"`    // for messages
}

// WriteStatus writes the status of the ClusterVersion, unless it has changed since
// Revision: a write that arrives late must not take back what a later one says.
type WriteStatus struct {
	Status   Status `json:"status"`             // the new status; owned by the receiver
	Revision string `json:"revision,omitempty"` // the observed ResourceVersion; empty means any
}

func (Retrieve) action()    {}
func (Apply) action()       {}
func (Delete) action()      {}
func (WriteStatus) action() {}

// Key names the attempt.
func (a Retrieve) Key() fairlead.Key { return fairlead.Key{Kind: "Retrieve", ID: a.Attempt} }

// Key names the attempt.
func (a Apply) Key() fairlead.Key { return fairlead.Key{Kind: "Apply", ID: a.Attempt} }

// Key names the attempt.
func (a Delete) Key() fairlead.Key { return fairlead.Key{Kind: "Delete", ID: a.Attempt} }

// Key is the same for every status.
func (a WriteStatus) Key() fairlead.Key { return fairlead.Key{Kind: "WriteStatus"} }

// String describes the action.
func (a Retrieve) String() string { return "retrieve " + a.Release.Image }

// String says what is done.
func (a Apply) String() string { return "apply " + a.Label }

// String says what is done.
func (a Delete) String() string { return "delete " + a.Label }

// String says what is done.
func (a WriteStatus) String() string {
	return fmt.Sprintf("write the status: %s", a.Status.Desired.Version)
}
