package lifecycle

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// hooks waits for the hooks of a point, and reports whether none is left.
func (s *stepper) hooks(p Point) bool {
	list := s.Machine.Spec.LifecycleHooks.At(p)
	for i := range list {
		s.hook(p, &list[i], list)
	}
	return len(list) == 0
}

// hook waits for one hook.
func (s *stepper) hook(p Point, h *Hook, list []Hook) {
	if first := s.policy.before(p, h.Name, list); first != "" {
		s.wait(fairlead.Block{Reason: ReasonHookNotInTurn, Point: string(p), Name: h.Name, Owner: h.Owner, Detail: first, Field: s.hooksField()})
		if old := s.hookState(p, h); old.Since.Before(s.now) { // it was in turn before
			s.hookStates.Add(old)
		}
		return
	}
	st := s.hookState(p, h)
	w := fairlead.Block{Reason: ReasonHookPending, Point: string(p), Name: h.Name, Owner: h.Owner, Since: st.Since, Field: s.hooksField()}
	switch {
	case h.Owner == "":
		if _, is := Lookup(KnownHook, h.Name); !is {
			w.Reason = ReasonHookOwnerUnknown
		}
	case s.silent(h.Owner):
		w.Reason = ReasonHookOwnerSilent
	}
	if d := s.policy.deadline(p, h); d != nil {
		st, w.Reason = s.deadline(d, st, w.Reason)
	}
	s.hookStates.Add(st)
	if w.Reason == ReasonHookRemoval {
		s.attempted(w, RemoveHook{Point: p, Name: h.Name}.Key())
		return
	}
	s.wait(w)
}

// hooksField names the field that hooks are in, for people; empty for the Machine
// API's.
func (s *stepper) hooksField() string {
	if s.policy.HooksField == "" && s.Machine.clusterAPI() {
		return annotationsField
	}
	return s.policy.HooksField
}

// hookState returns what is remembered about a hook. The wait for a new hook
// begins now.
func (s *stepper) hookState(p Point, h *Hook) HookState {
	for i := range s.State.Hooks {
		if st := &s.State.Hooks[i]; st.Point == p && st.Name == h.Name && st.Owner == h.Owner {
			known := *st
			known.Since = fairlead.Past(known.Since, s.now)
			return known
		}
	}
	return HookState{Point: p, Name: h.Name, Owner: h.Owner, Since: s.met(p)}
}

// met returns since when the machine has been waiting for a new hook: if the
// whole deletion is new, since that began, or since the drain was over.
func (s *stepper) met(p Point) time.Time {
	since := s.now
	if c := FindCondition(s.Machine.Status.Conditions, ConditionDrained); s.fresh && p == PreDrain {
		since = *s.Machine.DeletionTimestamp
	} else if s.fresh && c != nil && !c.LastTransitionTime.IsZero() {
		since = c.LastTransitionTime
	}
	return fairlead.Past(since, s.now)
}

// silent reports whether an owner sends no heartbeats.
func (s *stepper) silent(owner string) bool {
	if s.policy.OwnerTimeout <= 0 {
		return false
	}
	for i := range s.Owners {
		if s.Owners[i].Name != owner {
			continue
		}
		until := s.Owners[i].LastSeen.Add(s.policy.OwnerTimeout)
		if s.now.Before(until) {
			s.ledger.At(until)
		}
		return !s.now.Before(until)
	}
	return false
}

// deadline checks how long the machine has been waiting for a hook, and returns
// what to remember about it, and the reason of the wait.
func (s *stepper) deadline(d *Deadline, st HookState, reason string) (HookState, string) {
	elapsed := max(0, s.now.Sub(st.Since))
	if d.Soft > 0 && elapsed < d.Soft {
		s.ledger.At(st.Since.Add(d.Soft))
	}
	if d.Soft > 0 && elapsed >= d.Soft {
		if reason == ReasonHookPending {
			reason = ReasonHookOverdue
		}
		if !st.Warned {
			st.Warned = true
			s.event("Warning", "HookOverdue", string(st.Point)+" hook "+st.Name+" of "+st.Owner+" is not removed after "+d.Soft.String())
		}
	}
	if d.Hard <= 0 || d.Then == EscalateWait {
		return st, reason
	}
	if elapsed < d.Hard {
		s.ledger.At(st.Since.Add(d.Hard))
		return st, reason
	}
	return s.escalate(d, st)
}

// escalate does what the policy says for a hook that is past its hard deadline.
func (s *stepper) escalate(d *Deadline, st HookState) (HookState, string) {
	title := string(st.Point) + " hook " + st.Name + " of " + st.Owner
	switch d.Then {
	case EscalateFail:
		s.failed = title
		if !st.Forced {
			st.Forced = true
			s.note("HookDeadlineExceeded", title+" is not removed after "+d.Hard.String()+": the deletion has failed")
		}
		return st, ReasonHookFailed
	case EscalateAsk:
		if !s.approved(st) {
			return st, ReasonHookApproval
		}
	}
	why := "not removed after " + d.Hard.String() + ", and the policy says to skip it"
	if d.Then == EscalateAsk {
		why = "not removed after " + d.Hard.String() + ", and a person approved skipping it"
	}
	if !st.Forced {
		st.Forced = true
		s.note("HookSkipped", title+": "+why)
	}
	if s.ledger.Due(RemoveHook{Point: st.Point, Name: st.Name}.Key()) {
		s.do(RemoveHook{Point: st.Point, Name: st.Name, Owner: st.Owner, Why: why})
	}
	return st, ReasonHookRemoval
}

// approved reports whether a person approved going on without a hook.
func (s *stepper) approved(st HookState) bool {
	rest := s.Machine.Annotations[SkipHookAnnotation]
	for rest != "" {
		var one string
		one, rest, _ = strings.Cut(rest, ",")
		point, name, ok := strings.Cut(strings.TrimSpace(one), "/")
		if ok && point == string(st.Point) && name == st.Name {
			return true
		}
	}
	return false
}

// deadline returns the first deadline that matches a hook, or nil.
func (p *Policy) deadline(at Point, h *Hook) *Deadline {
	for i := range p.Deadlines {
		d := &p.Deadlines[i]
		if (d.Point == "" || d.Point == at) && (d.Name == "" || d.Name == h.Name) && (d.Owner == "" || d.Owner == h.Owner) {
			return d
		}
	}
	return nil
}

// before returns the name of a hook of the list that comes before the named one;
// empty if that one is in turn.
func (p *Policy) before(at Point, name string, list []Hook) string {
	for i := range p.Order {
		o := &p.Order[i]
		if o.Point != at || o.Name != name {
			continue
		}
		for j := range list {
			if slices.Contains(o.After, list[j].Name) {
				return list[j].Name
			}
		}
	}
	return ""
}

// InTurn returns the hooks of a point whose owners must act now: those that no
// other hook of the machine comes before. Owners that respect Policy.Order call
// it. The order is that of the machine.
func (p *Policy) InTurn(m *Machine, at Point) []Hook {
	list := m.Spec.LifecycleHooks.At(at)
	var now []Hook
	for _, h := range list {
		if p.before(at, h.Name, list) == "" {
			now = append(now, h)
		}
	}
	return now
}
