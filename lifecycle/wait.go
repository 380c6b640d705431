package lifecycle

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Wait is why a machine does not proceed, as plain data, so that it costs nothing
// until somebody needs the text: [Wait.Block] returns it.
type Wait struct {
	Machine string    `json:"machine"`          // the machine, namespace/name
	Reason  string    `json:"reason"`           // a stable word, see the Reason constants
	Point   Point     `json:"point,omitempty"`  // of the hook, if it is about one
	Name    string    `json:"name,omitempty"`   // of the hook, pod (namespace/name), volume or node that it is about
	Owner   string    `json:"owner,omitempty"`  // who can end it
	Detail  string    `json:"detail,omitempty"` // more, for people
	Field   string    `json:"field,omitempty"`  // of a hook, its field if not spec.lifecycleHooks; else the annotation that ends it
	Since   time.Time `json:"since"`            // when it began
}

// same reports whether two waits are about the same thing, so that the later one
// began when the earlier one did.
func (w *Wait) same(o *Wait) bool {
	return w.Reason == o.Reason && w.Point == o.Point && w.Name == o.Name && w.Owner == o.Owner
}

// wait adds a wait. If its Since is zero, or in the future, it is set to when the
// wait was first added.
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
	if i := s.waited; i < len(old) && old[i].same(w) { // mostly where it was the last time
		return fairlead.Past(old[i].Since, s.now)
	}
	for i := range old {
		if old[i].same(w) {
			return fairlead.Past(old[i].Since, s.now)
		}
	}
	return s.now
}

// name returns the machine's name, built only once.
func (s *stepper) name() string {
	if s.State.Machine == "" {
		s.State.Machine = s.World.Machine.String()
	}
	return s.State.Machine
}

// Block returns the wait as a text.
func (w Wait) Block() fairlead.Block {
	message, unblock := w.words()
	if w.Detail != "" {
		message += ": " + w.Detail
	}
	return fairlead.Block{Subject: "machine " + w.Machine, Reason: w.Reason, Message: message, Owner: w.who(), Since: w.Since, Unblock: unblock}
}

// who says who can end the wait: the named or known owner, or at least what to look
// for.
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
