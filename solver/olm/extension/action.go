package extension

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead"
)

// Action is something to do, one of
//
//   - [Unpack], which fetches the objects of a bundle;
//   - [SetFinalizer], which keeps the extension until its objects are gone, and then
//     releases it;
//   - [CreateRevision], [ArchiveRevision], [ReportRevision] and [DeleteRevision],
//     which keep the revisions;
//   - [ApplyObject] and [DeleteObject], which write and remove what they consist of;
//   - [UpdateStatus], which writes the status of the extension.
//
// An action changes an object only if it is still at the action's
// ResourceVersion, and creates one only if there is none. Otherwise a backend
// returns an error and changes nothing, or returns nil if the action is already
// done.
type Action interface {
	fairlead.Action
	action() // one of this package
}

// Unpack asks for the content of a bundle to be put into World.Contents.
type Unpack struct {
	Choice Choice `json:"choice"` // the bundle
}

// SetFinalizer adds [Finalizer] to the extension, or removes it.
type SetFinalizer struct {
	Present         bool   `json:"present"`         // whether it should be present
	ResourceVersion string `json:"resourceVersion"` // the extension's
}

// CreateRevision creates a revision. A backend rejects it if the extension in its
// owner reference is gone, or is being deleted.
type CreateRevision struct {
	Revision Revision `json:"revision"` // all of it
}

// ArchiveRevision sets the lifecycle of a revision to Archived.
type ArchiveRevision struct {
	Name            string `json:"name"`            // the revision's
	ResourceVersion string `json:"resourceVersion"` // the revision's
}

// ReportRevision writes the status of a revision.
type ReportRevision struct {
	Name            string         `json:"name"`            // the revision's
	ResourceVersion string         `json:"resourceVersion"` // the revision's
	Status          RevisionStatus `json:"status"`          // the new one
}

// DeleteRevision removes a revision, but none of its objects.
type DeleteRevision struct {
	Name            string `json:"name"`            // the revision's
	ResourceVersion string `json:"resourceVersion"` // the revision's
}

// ApplyObject creates an object, or updates it to what a revision specifies. The
// backend adds OwnerKindLabel and OwnerNameLabel, makes the revision its controller,
// keeps Digest with the object, and leaves fields alone that the manifest does not
// have, as server-side apply does. It rejects the action if the revision is gone or
// archived.
//
// As names the service account of the extension's namespace in whose name the object must
// be written, so that the API server refuses what the account may not do; empty means with
// the backend's own rights. It is that of the extension, except for CRDs.
type ApplyObject struct {
	Ref             Ref             `json:"ref"`                       // the object
	Revision        string          `json:"revision"`                  // the revision's name
	Manifest        json.RawMessage `json:"manifest"`                  // its desired content
	Digest          string          `json:"digest"`                    // of Manifest
	As              string          `json:"as,omitempty"`              // see above
	ResourceVersion string          `json:"resourceVersion,omitempty"` // the object's, empty to create it
}

// DeleteObject removes an object of the extension. As is like that of [ApplyObject]: whoever may
// label an object may make it the extension's, so that the account must be allowed to delete it.
type DeleteObject struct {
	Ref             Ref    `json:"ref"`             // the object
	UID             string `json:"uid"`             // the object's
	ResourceVersion string `json:"resourceVersion"` // the object's
	As              string `json:"as,omitempty"`    // see above
}

// UpdateStatus writes the status of the extension.
type UpdateStatus struct {
	ResourceVersion string `json:"resourceVersion"` // the extension's
	Status          Status `json:"status"`          // the new one
}

func (Unpack) action()          {}
func (SetFinalizer) action()    {}
func (CreateRevision) action()  {}
func (ArchiveRevision) action() {}
func (ReportRevision) action()  {}
func (DeleteRevision) action()  {}
func (ApplyObject) action()     {}
func (DeleteObject) action()    {}
func (UpdateStatus) action()    {}

// Key implements [fairlead.Action].
func (a Unpack) Key() fairlead.Key { return fairlead.Key{Kind: "Unpack", ID: a.Choice.Name} }

// Key implements [fairlead.Action].
func (a SetFinalizer) Key() fairlead.Key {
	return fairlead.Key{Kind: "SetFinalizer", ID: fmt.Sprint(a.Present)}
}

// Key implements [fairlead.Action].
func (a CreateRevision) Key() fairlead.Key {
	return fairlead.Key{Kind: "CreateRevision", ID: a.Revision.Name}
}

// Key implements [fairlead.Action].
func (a ArchiveRevision) Key() fairlead.Key {
	return fairlead.Key{Kind: "ArchiveRevision", ID: a.Name}
}

// Key implements [fairlead.Action].
func (a ReportRevision) Key() fairlead.Key { return fairlead.Key{Kind: "ReportRevision", ID: a.Name} }

// Key implements [fairlead.Action].
func (a DeleteRevision) Key() fairlead.Key { return fairlead.Key{Kind: "DeleteRevision", ID: a.Name} }

// Key implements [fairlead.Action].
func (a ApplyObject) Key() fairlead.Key {
	return fairlead.Key{Kind: "ApplyObject", ID: a.Revision + " " + a.Ref.Group + " " + a.Ref.String()}
}

// Key implements [fairlead.Action].
func (a DeleteObject) Key() fairlead.Key {
	return fairlead.Key{Kind: "DeleteObject", ID: a.Ref.Group + " " + a.Ref.String()}
}

// Key implements [fairlead.Action].
func (a UpdateStatus) Key() fairlead.Key { return fairlead.Key{Kind: "UpdateStatus"} }

// String implements [fairlead.Action].
func (a Unpack) String() string { return "unpack bundle " + a.Choice.Name }

// String implements [fairlead.Action].
func (a SetFinalizer) String() string {
	if a.Present {
		return "add finalizer " + Finalizer
	}
	return "remove finalizer " + Finalizer
}

// String implements [fairlead.Action].
func (a CreateRevision) String() string {
	return fmt.Sprintf("create revision %s of bundle %s", a.Revision.Name, a.Revision.Annotations[BundleAnnotation])
}

// String implements [fairlead.Action].
func (a ArchiveRevision) String() string { return "archive revision " + a.Name }

// String implements [fairlead.Action].
func (a ReportRevision) String() string { return "report on revision " + a.Name }

// String implements [fairlead.Action].
func (a DeleteRevision) String() string { return "delete revision " + a.Name }

// String implements [fairlead.Action].
func (a ApplyObject) String() string { return "apply " + a.Ref.String() + " of " + a.Revision }

// String implements [fairlead.Action].
func (a DeleteObject) String() string { return "delete " + a.Ref.String() }

// String implements [fairlead.Action].
func (a UpdateStatus) String() string { return "write the status of the extension" }
