package extension

import (
	"time"

	"github.com/fairlead/fairlead"
)

// StateVersion is the version of the format of [State].
const StateVersion = 1

// State is what the engine remembers about an extension. The zero State is
// empty. It survives encoding/json.
type State struct {
	UID      string  `json:"uid,omitempty"`      // of the extension that it is about
	Revision int64   `json:"revision,omitempty"` // the highest number that was given to a revision
	Digest   string  `json:"digest,omitempty"`   // of that revision, until it is observed
	Rollout  Rollout `json:"rollout,omitzero"`   // the one under way
	fairlead.Pending
}

// Rollout is a revision that is rolling out.
type Rollout struct {
	Revision string    `json:"revision"` // its name
	Since    time.Time `json:"since"`    // when it started
}

// Kinds returns an action of each kind, so that a Decision can be read back from
// JSON. Their values do not matter.
func (s State) Kinds() []Action {
	return []Action{Unpack{}, SetFinalizer{}, CreateRevision{}, ArchiveRevision{}, ReportRevision{}, DeleteRevision{}, ApplyObject{}, DeleteObject{}, UpdateStatus{}}
}

func (s *State) isZero() bool { return s.UID == "" && s.Revision == 0 && s.Pending.IsZero() }
