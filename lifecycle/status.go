package lifecycle

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// hookPresent is the reason of Drainable and Terminable while hooks are left;
// hookDeadline once one of them has failed the deletion; noHooks, if each condition
// needs a reason, once none is left.
const (
	noHooks      = "NoHooks"
	hookPresent  = "HookPresent"
	hookDeadline = "HookDeadlineExceeded"
	drainError   = "DrainError"
	drainAgain   = "DrainAgain"
)

// The texts before, between and after the names and owners of hooks in their
// messages.
const (
	drainBlocked     = "Drain operation currently blocked by: " + firstHook
	terminateBlocked = "Terminate operation currently blocked by: " + firstHook
	firstHook        = "[{Name:"
	ownerOfHook      = " Owner:"
	nextHook         = "} {Name:"
	lastHook         = "}]"
)

// status writes the status, if the machine does not have it yet.
func (s *stepper) status() {
	if s.current() {
		return
	}
	key := UpdateStatus{Revision: s.Machine.ResourceVersion}.Key()
	if s.ledger.Due(key) {
		s.do(s.update())
	}
}

// told reports whether the machine is seen with the conditions that it should have by
// now, whatever their messages.
func (s *stepper) told() bool {
	all := s.Machine.Status.Conditions
	hooks := &s.Machine.Spec.LifecycleHooks
	ok := shows(all, ConditionDrainable, len(hooks.PreDrain) == 0) &&
		shows(all, ConditionTerminable, len(hooks.PreTerminate) == 0) &&
		(s.State.Drained == "" || shows(all, ConditionDrained, true)) &&
		(s.State.Stage != StageDrain || !shows(all, ConditionDrained, true))
	if !ok {
		s.attempted(fairlead.Block{Reason: ReasonStatusPending}, UpdateStatus{Revision: s.Machine.ResourceVersion}.Key())
	}
	return ok
}

func shows(all []Condition, kind string, is bool) bool {
	c := FindCondition(all, kind)
	return c != nil && (c.Status == "True") == is
}

// current reports whether the status need not change.
func (s *stepper) current() bool {
	st := &s.Machine.Status
	if s.Machine.Deleting() && st.Phase != PhaseDeleting {
		return false
	}
	if s.failed != "" && st.ErrorReason == "" && !s.Machine.clusterAPI() {
		return false
	}
	return s.Machine.tells(s.failed != "") && s.saysDrained()
}

// tells reports whether the machine has its conditions about hooks, given whether one
// of them has failed the deletion.
func (m *Machine) tells(failed bool) bool {
	hooks := &m.Spec.LifecycleHooks
	return m.says(ConditionDrainable, drainBlocked, hooks.PreDrain, failed) &&
		m.says(ConditionTerminable, terminateBlocked, hooks.PreTerminate, failed)
}

// says compares a condition about hooks with the desired one, without building that.
func (m *Machine) says(kind, begin string, hooks []Hook, failed bool) bool {
	c := FindCondition(m.Status.Conditions, kind)
	if c == nil {
		return false
	}
	meta := m.APIVersion == versionMetaConditions
	if len(hooks) == 0 {
		return c.Status == "True" && c.Severity == "" && c.Message == "" && (!meta && c.Reason == "" || meta && c.Reason == noHooks)
	}
	severity, reason := grade(failed)
	if meta {
		severity = ""
	}
	if c.Status != "False" || c.Severity != severity || c.Reason != reason {
		return false
	}
	rest, ok := strings.CutPrefix(c.Message, begin)
	for i := range hooks {
		if i > 0 {
			rest, ok = cut(rest, ok, nextHook)
		}
		rest, ok = cut(rest, ok, hooks[i].Name)
		rest, ok = cut(rest, ok, ownerOfHook)
		rest, ok = cut(rest, ok, hooks[i].Owner)
	}
	return ok && rest == lastHook
}

// cut is strings.CutPrefix, if ok.
func cut(text string, ok bool, prefix string) (string, bool) {
	if !ok {
		return text, false
	}
	return strings.CutPrefix(text, prefix)
}

// form returns a condition in the form of the machine's API version.
func (m *Machine) form(c Condition) Condition {
	if m.APIVersion == versionMetaConditions {
		return c.meta()
	}
	return c
}

// grade returns how bad it is that hooks are left, given whether one of them has
// failed the deletion.
func grade(failed bool) (Severity, string) {
	if failed {
		return SeverityError, hookDeadline
	}
	return SeverityWarning, hookPresent
}

func (s *stepper) saysDrained() bool {
	c := FindCondition(s.Machine.Status.Conditions, ConditionDrained)
	switch {
	case s.State.Drained != "":
		return c != nil && c.Status == "True" && c.Message == s.State.Drained
	case s.failure != "":
		return c != nil && c.Status == "False" && c.Reason == drainError && c.Message == s.failure
	case s.State.Stage == StagePreDrain, s.State.Stage == StageDrain: // another node was drained before
		return c == nil || c.Status != "True"
	}
	return true
}

// update returns the new status of the machine.
func (s *stepper) update() UpdateStatus {
	m := s.Machine
	u := UpdateStatus{Revision: m.ResourceVersion, Phase: m.Status.Phase, ErrorReason: m.Status.ErrorReason, ErrorMessage: m.Status.ErrorMessage}
	if m.Deleting() {
		u.Phase = PhaseDeleting
	}
	if s.failed != "" && u.ErrorReason == "" && !m.clusterAPI() { // which only uses conditions
		u.ErrorReason, u.ErrorMessage = hookDeadline, s.failed+" is past its hard deadline"
	}
	at := s.now.Truncate(time.Second)
	all := m.Status.Conditions
	for _, x := range []struct {
		kind, begin string
		hooks       []Hook
	}{
		{ConditionDrainable, drainBlocked, m.Spec.LifecycleHooks.PreDrain},
		{ConditionTerminable, terminateBlocked, m.Spec.LifecycleHooks.PreTerminate},
	} {
		c := Condition{Type: x.kind, Status: "True", LastTransitionTime: at}
		if len(x.hooks) > 0 {
			c.Status, c.Message = "False", listed(x.begin, x.hooks)
			c.Severity, c.Reason = grade(s.failed != "")
		}
		all = setCondition(all, m.form(c))
	}
	switch {
	case s.State.Drained != "":
		all = setCondition(all, m.form(Condition{Type: ConditionDrained, Status: "True", LastTransitionTime: at, Message: s.State.Drained}))
	case s.failure != "":
		all = setCondition(all, m.form(Condition{
			Type: ConditionDrained, Status: "False", Severity: SeverityWarning, LastTransitionTime: at, Reason: drainError, Message: s.failure,
		}))
	case shows(all, ConditionDrained, true) && (s.State.Stage == StagePreDrain || s.State.Stage == StageDrain):
		all = setCondition(all, m.form(Condition{
			Type: ConditionDrained, Status: "False", Severity: SeverityInfo, LastTransitionTime: at, Reason: drainAgain, Message: "the node is not the one that was drained, or takes pods again",
		}))
	}
	u.Conditions = all
	return u
}

// listed writes at least one hook, as conditions do. It begins with a text that ends
// in firstHook.
func listed(begin string, hooks []Hook) string {
	all := make([]string, len(hooks))
	for i, h := range hooks {
		all[i] = h.Name + ownerOfHook + h.Owner
	}
	return begin + strings.Join(all, nextHook) + lastHook
}
