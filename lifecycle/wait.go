package lifecycle

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Wait is a reason why a machine does not go on, as plain data, so that telling
// it costs nothing until somebody asks: [Wait.Block] puts it into words.
type Wait struct {
	Machine string    `json:"machine"`          // whose it is, namespace/name
	Reason  string    `json:"reason"`           // a stable word, see the Reason constants
	Point   Point     `json:"point,omitempty"`  // of the hook, where it is about one
	Name    string    `json:"name,omitempty"`   // of the hook, pod (namespace/name), volume or node that it is about
	Owner   string    `json:"owner,omitempty"`  // who can end it
	Detail  string    `json:"detail,omitempty"` // more, for people
	Field   string    `json:"field,omitempty"`  // of a hook, where it stands if not in spec.lifecycleHooks
	Since   time.Time `json:"since"`            // when it began
}

// same reports whether two waits are about the same thing, so that the later
// has begun when the earlier did.
func (w *Wait) same(o *Wait) bool {
	return w.Reason == o.Reason && w.Point == o.Point && w.Name == o.Name && w.Owner == o.Owner
}

// wait adds a wait. If its Since is zero, or ahead of the clock, it is filled in:
// when the wait was first added.
func (s *stepper) wait(w *Wait) {
	w.Machine = s.name()
	if w.Since.IsZero() || w.Since.After(s.now) {
		w.Since = s.waitsSince(w)
	}
	s.waits.Add(*w)
	s.waited++
}

// waitsSince returns when a wait was first added.
func (s *stepper) waitsSince(w *Wait) time.Time {
	old := s.waits.Old
	if i := s.waited; i < len(old) && old[i].same(w) { // where it stood the last time, mostly
		return fairlead.Past(old[i].Since, s.now)
	}
	for i := range old {
		if old[i].same(w) {
			return fairlead.Past(old[i].Since, s.now)
		}
	}
	return s.now
}

// name returns the machine's, without making it again each time.
func (s *stepper) name() string {
	if s.State.Machine == "" {
		s.State.Machine = s.World.Machine.String()
	}
	return s.State.Machine
}

// Block puts the wait into words.
func (w Wait) Block() fairlead.Block {
	message, unblock := w.words()
	if w.Detail != "" {
		message += ": " + w.Detail
	}
	return fairlead.Block{Subject: "machine " + w.Machine, Reason: w.Reason, Message: message, Owner: w.who(), Since: w.Since, Unblock: unblock}
}

// who says who can end the wait: whom it names, or who is known, or at least what to
// look for.
func (w *Wait) who() string {
	if w.Owner != "" {
		return w.Owner
	}
	kind := KnownHook
	if w.Point == "" {
		kind = KnownFinalizer
	}
	if k, is := Lookup(kind, w.Name); is {
		return k.Owner
	}
	switch w.Reason {
	case ReasonHookOwnerUnknown, ReasonOtherFinalizer:
		return "whoever set it"
	case ReasonPaused:
		return "whoever paused it"
	case ReasonForeignNode, ReasonDoubtfulNode:
		return "an administrator"
	case ReasonInstanceUnknown, ReasonInstanceGoing:
		return "the cloud"
	case ReasonObjectUnknown:
		return "the API server"
	case ReasonVolumeAttached:
		return "the attach-detach controller"
	}
	return ""
}
