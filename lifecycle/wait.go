package lifecycle

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// wait says why the machine does not proceed.
func (s *stepper) wait(w fairlead.Block) {
	w.Subject = s.subject()
	s.ledger.Block(w)
}

// subject is that of the Blocks, built only once.
func (s *stepper) subject() string {
	if s.name == "" {
		var space [128]byte
		b := append(space[:0], "machine "...)
		if s.Machine.Namespace != "" {
			b = append(append(b, s.Machine.Namespace...), '/')
		}
		s.name = s.ledger.Text(append(b, s.Machine.Name...))
	}
	return s.name
}

// Words returns a Block of the engine with its words: Message, Owner and Unblock.
func Words(b fairlead.Block) fairlead.Block {
	message, unblock, known := words(&b)
	if !known {
		return drain.Words(b)
	}
	if b.Detail != "" {
		message += ": " + b.Detail
	}
	b.Message, b.Unblock, b.Owner = message, unblock, who(&b)
	return b
}

// who says who can end the wait: the named or known owner, or at least what to look
// for.
func who(w *fairlead.Block) string {
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
