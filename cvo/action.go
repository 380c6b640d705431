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
//   - [Delete], which removes what a manifest asks to be removed;
//   - [WriteStatus], which writes the status of the ClusterVersion.
//
// It may be done again: the result is the same.
type Action interface {
	fairlead.Action

	action()
}

// Retrieve fetches a release image, has its signature checked, and reads its
// payload. What comes of it is a Retrieved in the world.
type Retrieve struct {
	Attempt string  `json:"attempt"` // identifies this attempt
	Release Release `json:"release"` // which one; its version may be missing
	Try     int     `json:"try"`     // attempts before this one
	// Force asks for the payload although nobody vouches for the image. Without it, an
	// image whose signature is not valid should not be fetched at all.
	Force bool `json:"force,omitempty"`
}

// Apply brings a manifest into the cluster: creates the resource, or makes it
// what the manifest says; a manifest that is create-only is not updated. A
// ClusterOperator is only created: its status is the operator's.
type Apply struct {
	Attempt  string            `json:"attempt"`  // identifies this attempt
	Manifest *payload.Manifest `json:"manifest"` // what to apply
	Label    string            `json:"label"`    // what it is called: deployment "ns/name" (3 of 12)
	Release  Release           `json:"release"`  // of which release it is
	Mode     Mode              `json:"mode"`     // what the pass is for
}

// Delete removes the resource of a manifest that asks for it.
type Delete struct {
	Attempt  string            `json:"attempt"`  // identifies this attempt
	Manifest *payload.Manifest `json:"manifest"` // which one
	Label    string            `json:"label"`    // what it is called
}

// WriteStatus writes the status of the ClusterVersion.
type WriteStatus struct {
	Status Status `json:"status"` // as it is to be; owned by the receiver
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
