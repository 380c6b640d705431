package fairlead

import (
	"strings"
	"time"
)

// Block says why something does not happen (yet). Engines report every wait as
// a Block: a wait without one is a bug. It is a plain value. Engines document
// the order in which they list their Blocks.
type Block struct {
	// Subject is what is waiting: its kind and name, as in "machine worker-1".
	Subject string `json:"subject"`

	// Reason is a stable word in CamelCase, for programs. Each engine lists
	// its own.
	Reason string `json:"reason"`

	// Message says in one sentence, for people, what the subject is waiting
	// for. Its wording may change from one release to the next.
	Message string `json:"message"`

	// Owner is who can end the wait: a controller, a team, another object. It
	// is empty if nobody in particular can.
	Owner string `json:"owner,omitempty"`

	// Since is when the wait began; zero if the engine does not know.
	Since time.Time `json:"since,omitzero"`

	// Unblock says what to do, or what to wait for, as in "set spec.approved to
	// true" or "wait until the pod has ended".
	Unblock string `json:"unblock,omitempty"`
}

// String returns the block as one line: subject, reason and message, then owner
// and start if they are known, then how to unblock it.
func (b Block) String() string {
	var s strings.Builder
	s.WriteString(b.Subject + ": " + b.Reason + ": " + b.Message)
	var known []string
	if b.Owner != "" {
		known = append(known, "owner "+b.Owner)
	}
	if !b.Since.IsZero() {
		known = append(known, "since "+b.Since.Format(time.RFC3339))
	}
	if len(known) > 0 {
		s.WriteString(" (" + strings.Join(known, ", ") + ")")
	}
	if b.Unblock != "" {
		s.WriteString("; to unblock: " + b.Unblock)
	}
	return s.String()
}

// Block returns b: a Block is itself a [Blocker].
func (b Block) Block() Block { return b }
