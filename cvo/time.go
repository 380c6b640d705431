package cvo

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// stamp returns a time in the form written into a status: whole seconds in UTC, so
// that what an API server returns equals what was written.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// soon is the rule of fairlead.Past for a time that was meant to be in the future,
// by at most wait.
func soon(t, now time.Time, wait time.Duration) time.Time {
	if end := now.Add(wait); t.After(end) {
		return end
	}
	return t
}

// rewind applies the rule to a state. Start times that only distinguish attempts
// stay as they are.
func (s *step) rewind() {
	if n := s.Next; n != nil {
		n.Since, n.Try = fairlead.Past(n.Since, s.now), fairlead.Past(n.Try, s.now)
	}
	s.Flaps = slices.Clone(s.Flaps)
	for i := range s.Flaps {
		f := &s.Flaps[i]
		f.Since, f.Ended = fairlead.Past(f.Since, s.now), fairlead.Past(f.Ended, s.now)
	}
	s.Accepted.Since, s.Told = fairlead.Past(s.Accepted.Since, s.now), fairlead.Past(s.Told, s.now)
	w := s.Work
	if w == nil {
		return
	}
	w.Rest, w.Try = soon(w.Rest, s.now, s.policy.Interval), fairlead.Past(w.Try, s.now)
	for i := range w.Running {
		t := &w.Running[i]
		t.Since, t.Last = fairlead.Past(t.Since, s.now), fairlead.Past(t.Last, s.now)
	}
}

// normal returns a status in the form used for comparison: times as in stamp, and
// empty lists as nil. It shares nothing that it changes.
func (s Status) normal() Status {
	s.History = listOf(s.History, func(h *History) {
		h.StartedTime = stamp(h.StartedTime)
		if h.CompletionTime != nil {
			t := stamp(*h.CompletionTime)
			h.CompletionTime = &t
		}
	})
	s.Conditions = stamped(s.Conditions)
	s.Desired.Channels = listOf(s.Desired.Channels, nil)
	s.AvailableUpdates = listOf(s.AvailableUpdates, func(r *Release) { r.Channels = listOf(r.Channels, nil) })
	s.ConditionalUpdates = listOf(s.ConditionalUpdates, func(u *ConditionalUpdate) {
		u.Release.Channels, u.Conditions = listOf(u.Release.Channels, nil), stamped(u.Conditions)
	})
	s.ConditionalUpdateRisks = listOf(s.ConditionalUpdateRisks, func(r *ConditionalUpdateRisk) { r.Conditions = stamped(r.Conditions) })
	s.Capabilities.EnabledCapabilities = listOf(s.Capabilities.EnabledCapabilities, nil)
	s.Capabilities.KnownCapabilities = listOf(s.Capabilities.KnownCapabilities, nil)
	return s
}

func stamped(list []Condition) []Condition {
	return listOf(list, func(c *Condition) { c.LastTransitionTime = stamp(c.LastTransitionTime) })
}

// listOf returns a copy of a list whose elements were changed, nil for an empty
// list.
func listOf[T any](list []T, change func(*T)) []T {
	if len(list) == 0 {
		return nil
	}
	if change == nil {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		change(&list[i])
	}
	return list
}
