package cvo

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
)

// report writes the status if it differs from the reported one. If only messages
// have changed, it waits a while.
func (s *step) report() {
	if s.passed && s.Next != nil {
		s.At(s.now) // a request that was refused because of an update in progress may be accepted now
	}
	old := &s.w.Cluster.Status
	next := s.status().normal()
	if reflect.DeepEqual(*old, next) {
		return
	}
	if s.only(old, &next) {
		if at := s.Told.Add(s.policy.StatusInterval); s.now.Before(at) {
			s.At(at)
			return
		}
	}
	s.Told = s.now
	s.actions = append(s.actions, WriteStatus{Status: next, Revision: s.w.Cluster.ResourceVersion})
}

// only reports whether two statuses differ only in messages, and in reasons of
// intermittent problems.
func (s *step) only(a, b *Status) bool {
	reasons := s.flapOf("Failing").flapping()
	mute := func(c *Condition) {
		if c.Message = ""; reasons {
			c.Reason = ""
		}
	}
	x, y := *a, *b
	x.Conditions, y.Conditions = listOf(x.Conditions, mute), listOf(y.Conditions, mute)
	return reflect.DeepEqual(x, y)
}

// status returns the new status.
func (s *step) status() Status {
	old := s.w.Cluster.Status
	out := Status{
		Desired: described(s.desired(), s.w.Updates), History: s.History, ObservedGeneration: s.w.Cluster.Generation,
		AvailableUpdates: old.AvailableUpdates, ConditionalUpdates: old.ConditionalUpdates, ConditionalUpdateRisks: old.ConditionalUpdateRisks,
	}
	if s.Work != nil {
		out.VersionHash = s.Work.Hash
	}
	if c := s.policy.Capabilities; c != nil {
		out.Capabilities.KnownCapabilities, out.Capabilities.EnabledCapabilities = s.policy.available(s.w, c.Known), s.Enabled
	}
	out.Conditions = s.conditions(old.Conditions)
	s.offer(&out, &old)
	return out
}

// conditions returns those of the status; those of the engine are in the order in
// which they were first reported.
func (s *step) conditions(old []Condition) []Condition {
	out := old
	set := func(kind string, status ConditionStatus, reason, message string) {
		out = fairlead.SetCondition(out, Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: stamp(s.now)})
	}
	failing, progressing := s.steadied(s.verdict())
	if c := fairlead.FindCondition(out, "Available"); s.passed || s.installed() {
		set("Available", True, "", fmt.Sprintf("Done applying %s", s.lastCompleted()))
	} else if c == nil {
		set("Available", False, "", "")
	}
	set("Failing", failing.Status, failing.Reason, failing.Message)
	set("Progressing", progressing.Status, progressing.Reason, progressing.Message)
	if a := s.Accepted; a.Status != "" {
		set("ReleaseAccepted", a.Status, a.Reason, a.Message)
	}
	if c := s.w.UpdatesCondition; c.Type != "" {
		set(c.Type, c.Status, c.Reason, c.Message)
	}
	out = s.setInvalid(out)
	out = s.setUpgradeable(out)
	if s.policy.Capabilities != nil {
		if implicit := s.implicit(); len(implicit) > 0 {
			set("ImplicitlyEnabledCapabilities", True, "CapabilitiesImplicitlyEnabled", "The following capabilities could not be disabled: "+strings.Join(implicit, ", "))
		} else {
			set("ImplicitlyEnabledCapabilities", False, "AsExpected", "Capabilities match configured spec")
		}
	}
	return out
}

func (s *step) lastCompleted() string {
	if i := newestCompleted(s.History); i >= 0 {
		return s.History[i].Version
	}
	return ""
}

// setInvalid reports what is wrong with the request. Without a fault there is no
// condition.
func (s *step) setInvalid(list []Condition) []Condition {
	if len(s.invalid) == 0 {
		return without(list, "Invalid")
	}
	var messages []string
	for _, e := range s.invalid {
		messages = append(messages, e.Error())
		s.Block(fairlead.Block{Subject: e.Path, Reason: invalidReason, Message: e.Error(), Owner: "administrator", Unblock: "correct the field, or remove it"})
	}
	message := "The cluster version is invalid: " + messages[0]
	if len(messages) > 1 {
		message = "The cluster version is invalid:\n* " + strings.Join(messages, "\n* ")
	}
	return fairlead.SetCondition(list, Condition{Type: "Invalid", Status: True, Reason: invalidReason, Message: message, LastTransitionTime: stamp(s.now)})
}

func without(list []Condition, kind string) []Condition {
	return slices.DeleteFunc(slices.Clone(list), func(c Condition) bool { return c.Type == kind })
}

// setUpgradeable joins the reasons against changing the minor version: an update
// in progress, overrides, deletions, missing acknowledgements, and what operators
// report. Without any there is no condition.
func (s *step) setUpgradeable(list []Condition) []Condition {
	var against []ClusterRisk
	var operators *ClusterRisk
	for _, r := range clusterRisks(s.w, list, s.desired().Version) {
		if !r.Minor {
			continue
		}
		against = append(against, r)
		if operators == nil && strings.HasPrefix(r.Name, RiskUpgradeable) {
			operators = &r
		}
	}
	switch {
	case operators != nil:
		s.flap("Upgradeable", true, operators.Reason, operators.Message)
	default:
		if f := s.flap("Upgradeable", false, "", ""); f != nil {
			against = append(against, ClusterRisk{Risk: graph.Risk{Name: RiskUpgradeable, Message: f.text()}, Minor: true, Reason: f.Reason})
		}
	}
	if len(against) == 0 {
		return without(list, "Upgradeable")
	}
	c := Condition{Type: "Upgradeable", Status: False, Reason: against[0].Reason, Message: against[0].Message, LastTransitionTime: stamp(s.now)}
	if len(against) > 1 {
		c.Reason, c.Message = graph.ReasonMultiple, "Cluster should not be upgraded between minor or major versions for multiple reasons:"
		for _, a := range against {
			c.Message += "\n* " + a.Message
		}
	}
	return fairlead.SetCondition(list, c)
}
