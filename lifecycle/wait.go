package lifecycle

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Wait is a reason why a machine does not go on, as plain data, so that telling
// it costs nothing until somebody asks: [Wait.Block] puts it into words.
type Wait struct {
	Reason string    `json:"reason"`           // a stable word, see the Reason constants
	Point  Point     `json:"point,omitempty"`  // of the hook, where it is about one
	Name   string    `json:"name,omitempty"`   // of the hook, pod (namespace/name), volume or node that it is about
	Owner  string    `json:"owner,omitempty"`  // who can end it
	Detail string    `json:"detail,omitempty"` // more, for people
	Field  string    `json:"field,omitempty"`  // of a hook, where it stands if not in spec.lifecycleHooks
	Since  time.Time `json:"since"`            // when it began
}

// same reports whether two waits are about the same thing, so that the later
// has begun when the earlier did.
func (w *Wait) same(o *Wait) bool {
	return w.Reason == o.Reason && w.Point == o.Point && w.Name == o.Name && w.Owner == o.Owner
}

// waitList collects the waits of one Step.
type waitList struct {
	kept[Wait] // its old are those of the Step before
	now        time.Time
}

// add adds a wait. If its Since is zero, or ahead of the clock, it is filled in:
// when the wait was first added.
func (l *waitList) add(w Wait) {
	if w.Since.IsZero() || w.Since.After(l.now) {
		w.Since = l.since(&w)
	}
	l.kept.add(w)
}

// since returns when a wait was first added. An instant ahead of the clock,
// which was set back then, does not count.
func (l *waitList) since(w *Wait) time.Time {
	begin := min(l.n, len(l.old)) // where it stood the last time, mostly
	for _, part := range [2][]Wait{l.old[begin:], l.old[:begin]} {
		for i := range part {
			if o := &part[i]; o.same(w) && !o.Since.After(l.now) {
				return o.Since
			}
		}
	}
	return l.now
}

// Block puts the wait of a machine into words.
func (w Wait) Block(machine string) fairlead.Block {
	message, unblock := w.words()
	owner := w.Owner
	if owner == "" {
		k, _ := Lookup(KnownHook, w.Name)
		if w.Point == "" {
			k, _ = Lookup(KnownFinalizer, w.Name)
		}
		owner = k.Owner
	}
	return fairlead.Block{
		Subject: "machine " + machine, Reason: w.Reason, Message: detailed(message, w.Detail),
		Owner: owner, Since: w.Since, Unblock: unblock,
	}
}

// detailed adds to a message what is known of how it came about.
func detailed(message, detail string) string {
	if detail == "" {
		return message
	}
	return message + ": " + detail
}
