package cvo

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/fairlead/fairlead"
)

// StateVersion is the version of the format of State. Version 1 kept the waits
// for operators in work.waits.
const StateVersion = 2

// State is what the engine remembers of a cluster. The zero State is that of a
// new cluster.
type State struct {
	fairlead.Pending            // what is waited for, and since when
	History          []History  `json:"history,omitempty"` // of releases, newest first
	Next             *Candidate `json:"next,omitempty"`    // the release that is being checked before it is accepted
	Accepted         Acceptance `json:"accepted,omitzero"` // the progress or result of that
	Work             *Work      `json:"work,omitempty"`    // what is applied; nil before the first release
	Enabled          []string   `json:"enabled,omitempty"` // enabled capabilities, which are never disabled; sorted
	Told             time.Time  `json:"told,omitzero"`     // when the status was last written
	Flaps            []Flap     `json:"flaps,omitempty"`   // recent intermittent problems, by condition
}

// Candidate is a requested release that is not accepted yet.
type Candidate struct {
	Release Release   `json:"release"`         // the requested release
	Force   bool      `json:"force,omitempty"` // despite failed checks
	Since   time.Time `json:"since"`           // when it was requested
	From    int       `json:"from,omitempty"`  // attempts to retrieve the image before that
	Tries   int       `json:"tries,omitempty"` // attempts to retrieve it since
	Try     time.Time `json:"try,omitzero"`    // when the last of them began
}

// Acceptance is the content of the condition ReleaseAccepted.
type Acceptance struct {
	Status  ConditionStatus `json:"status,omitempty"`  // True, False, or Unknown while it is decided
	Reason  string          `json:"reason,omitempty"`  // the step, see the constants Accept...
	Message string          `json:"message,omitempty"` // what happened
	Cause   string          `json:"cause,omitempty"`   // why it is False, as a reason that SummaryForReason knows
	Since   time.Time       `json:"since,omitzero"`    // when status and reason last changed
}

// The steps of accepting a release.
const (
	AcceptRetrieve   = "RetrievePayload"      // the image is fetched, and its signature checked
	AcceptLoad       = "LoadPayload"          // its manifests are read
	AcceptVersion    = "VerifyPayloadVersion" // it has the requested version
	AcceptConditions = "PreconditionChecks"   // all preconditions hold
	AcceptDone       = "PayloadLoaded"        // it is accepted
)

// Work is a release that is being applied.
type Work struct {
	Release  Release   `json:"release"`            // which one
	Verified bool      `json:"verified,omitempty"` // its signature was verified
	Risks    string    `json:"risks,omitempty"`    // the reasons against it
	Mode     Mode      `json:"mode"`               // what the pass is for
	Hash     string    `json:"hash"`               // of the tasks, see payload.Hash
	Pass     int       `json:"pass,omitempty"`     // finished passes of this mode
	Begun    time.Time `json:"begun"`              // when the pass began
	Done     Bits      `json:"done,omitempty"`     // the tasks that are done in this pass, by index
	Running  []Running `json:"running,omitempty"`  // the tasks that are started and not done, ascending
	Rest     time.Time `json:"rest,omitzero"`      // when the next pass begins
	Tries    int       `json:"tries,omitempty"`    // attempts to retrieve it again, after its payload was lost
	Try      time.Time `json:"try,omitzero"`       // when the last of them began
}

// Running is a task that is started and not done.
type Running struct {
	Task  int        `json:"task"`            // its index
	Try   int        `json:"try,omitempty"`   // attempts that failed
	Since time.Time  `json:"since"`           // when it was begun
	Last  time.Time  `json:"last,omitzero"`   // when the last of them failed
	Sent  bool       `json:"sent,omitempty"`  // it was applied, and the engine waits for it
	Error *TaskError `json:"error,omitempty"` // why the last attempt failed; what delays it after it was applied is not stored
}

// Kinds returns one action of each kind.
func (State) Kinds() []Action { return []Action{Retrieve{}, Apply{}, Delete{}, WriteStatus{}} }

// waitReached is the reason of the wait for an operator to reach the release, in
// State.Waits: the wait continues whatever the operator reports meanwhile.
const waitReached = "Reached"

func operatorSubject(name string) string { return "clusteroperator " + name }

// upgradeState reads a state of an older version.
func upgradeState(_ int, text []byte) (State, error) {
	var s State
	var old struct {
		Work struct {
			Waits []struct {
				Name  string    `json:"name"`
				Since time.Time `json:"since"`
			} `json:"waits"`
		} `json:"work"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return State{}, err
	}
	if err := json.Unmarshal(text, &old); err != nil {
		return State{}, err
	}
	for _, w := range old.Work.Waits {
		s.Waits = append(s.Waits, fairlead.Block{Subject: operatorSubject(w.Name), Reason: waitReached, Since: w.Since})
	}
	return s, nil
}

// Bits is a set of indices.
type Bits []byte

// Has reports whether i is in the set.
func (b Bits) Has(i int) bool { return i/8 < len(b) && b[i/8]&(1<<(i%8)) != 0 }

// With returns the set with i in it. The receiver is not changed.
func (b Bits) With(i int) Bits {
	out := make(Bits, max(len(b), i/8+1))
	copy(out, b)
	out[i/8] |= 1 << (i % 8)
	return out
}

// Count returns the size of the set.
func (b Bits) Count() int {
	n := 0
	for _, x := range b {
		for ; x != 0; x &= x - 1 {
			n++
		}
	}
	return n
}

// String returns the set in base64, as in JSON.
func (b Bits) String() string { return base64.StdEncoding.EncodeToString(b) }
