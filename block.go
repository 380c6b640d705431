package fairlead

import (
	"strings"
	"time"
)

// Block says why something does not happen (yet). Engines report every wait as
// a Block: a wait without one is a bug. It is a plain value. Engines document
// the order in which they list their Blocks.
//
// An engine gives the words, Message and Unblock, or the data of which they are
// made when somebody needs them, so that a waiting Step builds no text: see
// [Decision.Blocks].
type Block struct {
	// Subject is what is waiting: its kind and name, as in "machine worker-1".
	Subject string `json:"subject"`

	// Reason is a stable word in CamelCase, for programs. Each engine lists
	// its own.
	Reason string `json:"reason"`

	// Name is what the wait is about, if there may be several for one reason: a
	// pod (namespace/name), a hook, a volume. Point says where it waits, if there
	// are several such places.
	Name  string `json:"name,omitempty"`
	Point string `json:"point,omitempty"` // see Name

	// Detail is more about the wait, such as the error of a server. Field is the
	// field or annotation by which it can be ended.
	Detail string `json:"detail,omitempty"`
	Field  string `json:"field,omitempty"` // see Detail

	// Message says in one sentence, for people, what the subject is waiting
	// for. Its wording may change from one release to the next.
	Message string `json:"message,omitempty"`

	// Owner is who can end the wait: a controller, a team, another object. It
	// is empty if nobody in particular can.
	Owner string `json:"owner,omitempty"`

	// Since is when the wait began; zero if the engine does not know.
	Since time.Time `json:"since,omitzero"`

	// Unblock says what to do, or what to wait for, as in "set spec.approved to
	// true" or "wait until the pod has ended".
	Unblock string `json:"unblock,omitempty"`
}

// String returns the block as one line: subject, reason and message, or the data if
// it has no message, then owner and start if they are known, then how to unblock it.
func (b Block) String() string {
	var s strings.Builder
	s.WriteString(b.Subject + ": " + b.Reason)
	said := []string{b.Message}
	if b.Message == "" {
		said = []string{b.Point, b.Name, b.Detail}
	}
	for _, text := range said {
		if text != "" {
			s.WriteString(": " + text)
		}
	}
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

// same reports whether two Blocks are of one wait, so that the later one began when
// the earlier one did. The owner distinguishes those without words.
func (b *Block) same(o *Block) bool {
	return b.Subject == o.Subject && b.Reason == o.Reason && b.Name == o.Name && b.Point == o.Point && (b.Owner == o.Owner || b.worded())
}

// worded reports whether the Block has words of its own.
func (b *Block) worded() bool { return b.Message != "" || b.Unblock != "" }
