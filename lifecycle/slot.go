package lifecycle

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// admitted reports whether other machines let this one be drained, and waits
// for the slots that it lacks. It is called before the stage Drain begins, so
// that the time for the drain does not pass while the machine waits.
func (s *stepper) admitted() bool {
	if len(s.Slots) == 0 || s.skipped() != "" {
		return true
	}
	for i := range s.Slots {
		t := &s.Slots[i]
		w := fairlead.Block{Reason: ReasonSlotTaken, Name: t.Limit, Since: t.Since}
		switch {
		case t.Replacement:
			w.Reason = drain.ReasonReplacementDue
		case t.Holder != "":
			w.Owner = "machine " + t.Holder
		}
		s.wait(w)
	}
	return false
}
