package cvo

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// verdict decides Failing and Progressing.
//
// While a release is applied for the first time, a wait is not a failure: an
// operator that is not at its version yet is slow after a while, and then Failing
// is Unknown; a degraded one fails after a while, or as soon as something else
// does. Once a cluster is at its release, both count at once.
func (s *step) verdict() (failing, progressing Condition) {
	switch {
	case s.Work == nil:
		return s.idle()
	case s.Work.Mode == Reconciling:
		return s.steady()
	}
	version := s.Work.Release.Version
	fault, late, slow := s.split()
	if e := Summarize(fault); e != nil {
		text := fmt.Sprintf("Unable to apply %s: %s", version, summary(e))
		if e.Effect == EffectFailLater {
			text = fmt.Sprintf("Unable to apply %s: wait has exceeded %s for these operators: %s", version, minutes(s.policy.Degraded), list(late))
		}
		return Condition{Status: True, Reason: e.Reason, Message: e.Message}, Condition{Status: True, Reason: e.Reason, Message: text}
	}
	failing = Condition{Status: False}
	if slow != "" {
		slow = "waiting on " + slow + " which is longer than expected"
		failing = Condition{Status: Unknown, Reason: "SlowClusterOperator", Message: slow}
	}
	return failing, s.workingTowards(version, slow)
}

// invalidReason is the reason of Progressing while the request is invalid.
const invalidReason = "InvalidClusterVersion"

// steady is the verdict once the release is reached.
func (s *step) steady() (failing, progressing Condition) {
	version := s.Work.Release.Version
	if e := Summarize(s.errors); e != nil {
		return Condition{Status: True, Reason: e.Reason, Message: e.Message}, erring(version, e.Reason, summary(e))
	}
	return Condition{Status: False}, s.stays(version)
}

// stays is Progressing once the release is reached.
func (s *step) stays(version string) Condition {
	if len(s.invalid) > 0 {
		return Condition{Status: False, Reason: invalidReason, Message: fmt.Sprintf("Stopped at %s: the cluster version is invalid", version)}
	}
	return Condition{Status: False, Message: "Cluster version is " + version}
}

// erring is Progressing once the release is reached and reconciling fails.
func erring(version, reason, why string) Condition {
	return Condition{Status: False, Reason: reason, Message: fmt.Sprintf("Error while reconciling %s: %s", version, why)}
}

// idle is the verdict before there is anything to apply. The cluster may already
// have been at the release before this engine began.
func (s *step) idle() (failing, progressing Condition) {
	if s.Next == nil {
		return Condition{Status: True, Reason: "NoDesiredImage", Message: "No configured operator version, unable to update cluster"},
			Condition{Status: True, Reason: "NoDesiredImage", Message: "Unable to apply <unknown>: " + SummaryForReason("NoDesiredImage", "")}
	}
	version := name(s.Next.Release)
	reached := s.underWay(s.Next.Release) && s.History[0].State == Completed
	a := s.Accepted
	switch {
	case a.Status == False && reached:
		return Condition{Status: True, Reason: a.Cause, Message: a.Message}, erring(version, a.Cause, SummaryForReason(a.Cause, ""))
	case a.Status == False:
		return Condition{Status: True, Reason: a.Cause, Message: a.Message},
			Condition{Status: True, Reason: a.Cause, Message: fmt.Sprintf("Unable to apply %s: %s", version, SummaryForReason(a.Cause, ""))}
	case reached:
		return Condition{Status: False}, s.stays(version)
	}
	return Condition{Status: False}, s.workingTowards(version, "")
}

// workingTowards says how far the release is and what it waits for; slow is what
// it has been waiting for too long.
func (s *step) workingTowards(version, slow string) Condition {
	if len(s.invalid) > 0 {
		return Condition{Status: True, Reason: invalidReason, Message: fmt.Sprintf("Reconciling %s: the cluster version is invalid", version)}
	}
	var parts []string
	if p := s.progress(); p != "" {
		parts = append(parts, p)
	}
	c := Condition{Status: True}
	if e := Summarize(s.waitingFor(EffectFailLater)); e != nil {
		c.Reason = e.Reason
		parts = append(parts, fmt.Sprintf("waiting up to %s on %s", minutes(s.policy.Degraded), list(e.names())))
	}
	if waits := condense(s.waitingFor(EffectNone)); len(waits) > 0 {
		c.Reason = waits[len(waits)-1].Reason // of operators, if any are among them
		if slow == "" {
			slow = "waiting on " + list(concerned(waits))
		}
		parts = append(parts, slow)
	}
	c.Message = "Working towards " + version
	if len(parts) > 0 {
		c.Message += ": " + strings.Join(parts, ", ")
	}
	return c
}

// waitingFor returns the errors with an effect.
func (s *step) waitingFor(effect Effect) []*TaskError {
	var found []*TaskError
	for _, e := range s.errors {
		if e.Effect == effect {
			found = append(found, e)
		}
	}
	return found
}

// besides returns the errors without an effect.
func besides(errs []*TaskError, effect Effect) []*TaskError {
	return slices.DeleteFunc(slices.Clone(errs), func(e *TaskError) bool { return e.Effect == effect })
}

// progress says how many tasks are done, or nothing if none is.
func (s *step) progress() string {
	switch {
	case s.Work == nil:
		return ""
	case s.prep == nil:
		return "its payload is being retrieved"
	}
	total, done := len(s.prep.graph.Tasks), s.Work.Done.Count()
	if done == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d done (%d%% complete)", done, total, 100*done/total)
}

// split splits the errors of tasks into current failures, the names of operators
// that have been degraded for too long, and the operators that are slow. It
// schedules the next step for when that changes.
func (s *step) split() (fault []*TaskError, late []string, slow string) {
	over := map[time.Duration][]string{}
	failed := false
	for _, e := range s.errors {
		since := s.started[e.Name]
		switch {
		case e.Effect == EffectNone && e.Operator:
			limit := s.policy.slow(e.Name)
			if s.late(since, limit) {
				over[limit] = append(over[limit], e.Name)
			}
		case e.Effect == EffectNone:
		case e.Effect == EffectFailLater:
			if s.late(since, s.policy.Degraded) {
				late = append(late, e.Name)
			}
		default:
			failed = true
		}
	}
	if failed || len(late) > 0 {
		fault = besides(s.errors, EffectNone)
	}
	return fault, late, slowest(over)
}

// slowest says which operators exceed which limits.
func slowest(over map[time.Duration][]string) string {
	limits := make([]time.Duration, 0, len(over))
	for limit := range over {
		limits = append(limits, limit)
	}
	slices.Sort(limits)
	var parts []string
	for _, limit := range limits {
		parts = append(parts, fmt.Sprintf("%s over %s", list(over[limit]), minutes(limit)))
	}
	return strings.Join(parts, " and ")
}

// late reports whether a wait is over its limit; if not, it requests a step for
// then.
func (s *step) late(since time.Time, limit time.Duration) bool {
	if end := since.Add(limit); s.now.Before(end) {
		s.At(end)
		return false
	}
	return true
}

func summary(e *TaskError) string {
	who := e.Name
	if e.Reason == ReasonMultiple {
		who = strings.Join(e.Names, ", ")
	}
	return SummaryForReason(e.Reason, who)
}

// concerned returns who the errors are about.
func concerned(errs []*TaskError) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.names()...)
	}
	return out
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
