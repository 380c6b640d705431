package cvo

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// verdict decides Failing and Progressing.
//
// While a release is applied for the first time a wait is no failure: an
// operator that is not at its version yet is slow after a while, and then
// Failing is Unknown; a degraded one fails after a while. Once a cluster is at
// its release both count at once.
func (s *step) verdict() (failing, progressing Condition) {
	if s.Work == nil {
		return s.idle()
	}
	version := s.Work.Release.Version
	fault, slow := s.split()
	if s.Work.Mode == Reconciling {
		if e := Summarize(s.errors); e != nil && !s.passed {
			return Condition{Status: True, Reason: e.Reason, Message: e.Message},
				Condition{Status: False, Reason: e.Reason, Message: fmt.Sprintf("Error while reconciling %s: %s", version, summary(e))}
		}
		return Condition{Status: False}, Condition{Status: False, Message: "Cluster version is " + version}
	}
	if e := Summarize(fault); e != nil {
		text := fmt.Sprintf("Unable to apply %s: %s", version, summary(e))
		if e.Effect == EffectFailLater {
			text = fmt.Sprintf("Unable to apply %s: wait has exceeded %s for these operators: %s", version, minutes(s.policy.Degraded), strings.Join(e.names(), ", "))
		}
		return Condition{Status: True, Reason: e.Reason, Message: e.Message}, Condition{Status: True, Reason: e.Reason, Message: text}
	}
	if slow != "" {
		text := "waiting on " + slow + " which is longer than expected"
		return Condition{Status: Unknown, Reason: "SlowClusterOperator", Message: text},
			Condition{Status: True, Reason: "ClusterOperatorUpdating", Message: fmt.Sprintf("Working towards %s: %s, %s", version, s.progress(), text)}
	}
	return Condition{Status: False}, s.workingTowards(version)
}

// idle is the verdict before there is anything to apply.
func (s *step) idle() (failing, progressing Condition) {
	want, _ := Desire(s.seen(), s.current())
	if want.Image == "" {
		return Condition{Status: True, Reason: "NoDesiredImage", Message: "No configured operator version, unable to update cluster"},
			Condition{Status: True, Reason: "NoDesiredImage", Message: "Unable to apply <unknown>: " + SummaryForReason("NoDesiredImage", "")}
	}
	if s.Accepted.Status == False {
		return Condition{Status: True, Reason: s.Accepted.Reason, Message: s.Accepted.Message},
			Condition{Status: True, Reason: s.Accepted.Reason, Message: fmt.Sprintf("Unable to apply %s: %s", name(want), SummaryForReason("UpdatePayloadRetrievalFailed", ""))}
	}
	return Condition{Status: False}, Condition{Status: True, Message: "Working towards " + name(want)}
}

// workingTowards tells how far the release is and what is waited for.
func (s *step) workingTowards(version string) Condition {
	c := Condition{Status: True, Message: fmt.Sprintf("Working towards %s: %s", version, s.progress())}
	var updating, degraded []string
	for _, e := range s.errors {
		switch {
		case e.Effect == EffectFailLater:
			degraded = append(degraded, e.names()...)
		case e.Effect == EffectNone && e.Name != "":
			updating = append(updating, e.names()...)
		}
	}
	if len(degraded) > 0 {
		c.Reason = ReasonOperatorDegraded
		c.Message += fmt.Sprintf(", waiting up to %s on %s", minutes(s.policy.Degraded), list(degraded))
	}
	if len(updating) > 0 {
		c.Reason = ReasonOperatorUpdating
		c.Message += ", waiting on " + list(updating)
	}
	return c
}

// progress tells how many tasks are done.
func (s *step) progress() string {
	if s.prep == nil {
		return "its payload is being retrieved"
	}
	total := len(s.prep.graph.Tasks)
	done := s.Work.Done.Count()
	if total == 0 {
		return "nothing to do"
	}
	return fmt.Sprintf("%d of %d done (%d%% complete)", done, total, 100*done/total)
}

// split parts what keeps tasks into what is a failure now and the operators that
// are slow, and sees to it that the next step comes when that changes.
func (s *step) split() (fault []*TaskError, slow string) {
	over := map[time.Duration][]string{}
	for _, e := range s.errors {
		since := s.since(e)
		switch {
		case e.Effect == EffectNone && e.Operator:
			limit := s.policy.slow(e.Name)
			if s.late(since, limit) {
				over[limit] = append(over[limit], e.Name)
			}
		case e.Effect == EffectNone:
		case e.Effect == EffectFailLater:
			if s.late(since, s.policy.Degraded) {
				fault = append(fault, e)
			}
		default:
			fault = append(fault, e)
		}
	}
	limits := make([]time.Duration, 0, len(over))
	for limit := range over {
		limits = append(limits, limit)
	}
	slices.Sort(limits)
	var parts []string
	for _, limit := range limits {
		parts = append(parts, fmt.Sprintf("%s over %s", list(over[limit]), minutes(limit)))
	}
	return fault, strings.Join(parts, " and ")
}

// late reports whether a wait is over its limit; if not, the step comes again
// then.
func (s *step) late(since time.Time, limit time.Duration) bool {
	if end := since.Add(limit); s.now.Before(end) {
		s.at(end)
		return false
	}
	return true
}

// since is when the wait for an operator began.
func (s *step) since(e *TaskError) time.Time {
	for _, w := range s.Work.Waits {
		if w.Name == e.Name {
			return w.Since
		}
	}
	return s.now
}

func summary(e *TaskError) string {
	who := e.Name
	if e.Reason == ReasonMultiple {
		who = strings.Join(e.Names, ", ")
	}
	return SummaryForReason(e.Reason, who)
}

// list joins names, sorted, each once.
func list(names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

func minutes(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return d.String()
}
