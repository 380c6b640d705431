package cvo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Flap is an intermittent problem. Once it has come back a few times, it is reported
// until it has been gone for Policy.Calm, so that it is neither hidden nor written at
// every change.
type Flap struct {
	Condition string    `json:"condition"`        // the type of the condition that reports it
	Since     time.Time `json:"since"`            // when it first appeared
	Turns     int       `json:"turns,omitempty"`  // how often it came back
	Ended     time.Time `json:"ended,omitzero"`   // when it last disappeared; zero while it is there
	Reason    string    `json:"reason,omitempty"` // of its last appearance
	Message   string    `json:"message"`          // likewise
}

// flapTurns is how often a problem must have come back to count as intermittent.
const flapTurns = 2

// flapping reports whether the problem is intermittent.
func (f *Flap) flapping() bool { return f != nil && f.Turns >= flapTurns }

// text is what is reported about it.
func (f *Flap) text() string {
	if !f.flapping() {
		return f.Message
	}
	return fmt.Sprintf("%s (intermittent since %s)", f.Message, stamp(f.Since).Format(time.RFC3339))
}

// flap notes whether there is a problem of a kind, with its reason and message, and
// returns what to report: nil if there is none and has been none for long enough.
func (s *step) flap(condition string, bad bool, reason, message string) *Flap {
	i := slices.IndexFunc(s.Flaps, func(f Flap) bool { return f.Condition == condition })
	if i < 0 && !bad {
		return nil
	}
	s.Flaps = slices.Clone(s.Flaps)
	if i < 0 {
		s.Flaps = append(s.Flaps, Flap{Condition: condition, Since: s.now, Reason: reason, Message: message})
		slices.SortFunc(s.Flaps, func(a, b Flap) int { return strings.Compare(a.Condition, b.Condition) })
		return s.flapOf(condition)
	}
	f := &s.Flaps[i]
	switch {
	case bad:
		f.Reason, f.Message = reason, message
		if !f.Ended.IsZero() {
			f.Turns, f.Ended = f.Turns+1, time.Time{}
		}
		return f
	case f.Ended.IsZero():
		f.Ended = s.now
	}
	end := f.Ended.Add(s.policy.Calm)
	if !s.now.Before(end) {
		s.Flaps = slices.Delete(s.Flaps, i, i+1)
		return nil
	}
	if s.At(end); !f.flapping() {
		return nil
	}
	return f
}

func (s *step) flapOf(condition string) *Flap {
	i := slices.IndexFunc(s.Flaps, func(f Flap) bool { return f.Condition == condition })
	if i < 0 {
		return nil
	}
	return &s.Flaps[i]
}

// steadied returns Failing and Progressing with intermittent problems.
func (s *step) steadied(failing, progressing Condition) (Condition, Condition) {
	bad := failing.Status == True
	f := s.flap("Failing", bad, failing.Reason, failing.Message)
	if !f.flapping() {
		return failing, progressing
	}
	failing = Condition{Status: True, Reason: f.Reason, Message: f.text()}
	if s.Work != nil && s.Work.Mode == Reconciling && !bad && len(s.invalid) == 0 {
		progressing = erring(s.Work.Release.Version, f.Reason, SummaryForReason(f.Reason, ""))
	}
	if !bad {
		s.Block(fairlead.Block{
			Subject: "clusterversion", Reason: "Flapping", Owner: "cluster", Since: f.Since, Message: oneLine(f.text()),
			Unblock: "wait until it has not come back for " + s.policy.Calm.String(),
		})
	}
	return failing, progressing
}
