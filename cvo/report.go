package cvo

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/internal/semverx"
)

// report writes the status when it is not what is told. Where nothing but
// messages has changed it waits a while.
func (s *step) report() {
	old := &s.w.Cluster.Status
	next := s.status()
	if reflect.DeepEqual(*old, next) {
		return
	}
	if only(old, &next) {
		if at := s.Told.Add(s.policy.StatusInterval); !s.Told.After(s.now) && s.now.Before(at) {
			s.at(at)
			return
		}
	}
	s.Told = s.now
	s.actions = append(s.actions, WriteStatus{next})
}

// only reports whether two statuses differ in nothing but messages.
func only(a, b *Status) bool {
	x, y := *a, *b
	x.Conditions, y.Conditions = mute(x.Conditions), mute(y.Conditions)
	return reflect.DeepEqual(x, y)
}

func mute(list []Condition) []Condition {
	list = slices.Clone(list)
	for i := range list {
		list[i].Message = ""
	}
	return list
}

// status is what there is to tell.
func (s *step) status() Status {
	old := s.w.Cluster.Status
	out := Status{
		Desired: s.desired(), History: s.History, ObservedGeneration: s.w.Cluster.Generation,
		AvailableUpdates: old.AvailableUpdates, ConditionalUpdates: old.ConditionalUpdates,
	}
	if s.Work != nil {
		out.VersionHash = s.Work.Hash
	}
	if c := s.policy.Capabilities; c != nil {
		out.Capabilities.KnownCapabilities, out.Capabilities.EnabledCapabilities = slices.Sorted(slices.Values(c.Known)), s.Enabled
	}
	if s.w.Updates != nil {
		out.AvailableUpdates, out.ConditionalUpdates = Offers(s.w.Updates, s.w.Evaluations, accepts(s.w.Cluster), &old, s.now)
	}
	out.Conditions = s.conditions(old.Conditions)
	return out
}

// accepts returns the names of risks that the administrator takes.
func accepts(cv *ClusterVersion) []string {
	var names []string
	if u := cv.Spec.DesiredUpdate; u != nil {
		for _, r := range u.AcceptRisks {
			names = append(names, r.Name)
		}
	}
	return names
}

// Offers returns the lists of the status for the updates that a graph offers:
// available ones, which are recommended whatever the cluster or because none of
// their risks applies, and those with risks, with the condition Recommended.
// Both are ordered by version, newest first. The instants of conditions are
// those of old while their status stays.
func Offers(u *graph.Updates, known graph.Evaluations, accepted []string, old *Status, now time.Time) (available []Release, conditional []ConditionalUpdate) {
	for _, to := range u.Available {
		available = append(available, release(to.Release))
	}
	for _, to := range u.Conditional {
		r := known.Recommend(to, accepted)
		c := Condition{Type: "Recommended", Status: r.Status, Reason: r.Reason, Message: r.Message, LastTransitionTime: now}
		var before []Condition
		for _, o := range old.ConditionalUpdates {
			if o.Release.Image == to.Payload {
				before = o.Conditions
			}
		}
		conditional = append(conditional, ConditionalUpdate{Release: release(to.Release), Risks: to.Risks, Conditions: object.SetCondition(before, c)})
		if r.Status == True {
			available = append(available, release(to.Release))
		}
	}
	slices.SortStableFunc(available, newest)
	slices.SortStableFunc(conditional, func(a, b ConditionalUpdate) int { return newest(a.Release, b.Release) })
	return available, conditional
}

func release(r graph.Release) Release {
	return Release{Version: r.Version, Image: r.Payload, URL: r.URL(), Channels: r.Channels()}
}

// newest orders releases by version, newest first; those without one last.
func newest(a, b Release) int {
	v, _ := semverx.Parse(a.Version)
	w, _ := semverx.Parse(b.Version)
	return cmp.Or(w.Compare(v), strings.Compare(a.Image, b.Image))
}

// conditions are those of the status, those of the engine in the order of the
// first time they are told.
func (s *step) conditions(old []Condition) []Condition {
	out := old
	set := func(kind string, status ConditionStatus, reason, message string) {
		out = object.SetCondition(out, Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: s.now})
	}
	failing, progressing := s.verdict()
	if c := object.FindCondition(out, "Available"); s.passed || s.installed() {
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

// setInvalid tells what is wrong with what is asked for. Without a fault there
// is no condition.
func (s *step) setInvalid(list []Condition) []Condition {
	if len(s.invalid) == 0 {
		return without(list, "Invalid")
	}
	var messages []string
	for _, e := range s.invalid {
		messages = append(messages, e.Error())
		s.block(fairlead.Block{Subject: e.Field, Reason: invalidReason, Message: e.Error(), Owner: "administrator", Unblock: "mend the field, or remove it"})
	}
	message := "The cluster version is invalid: " + messages[0]
	if len(messages) > 1 {
		message = "The cluster version is invalid:\n* " + strings.Join(messages, "\n* ")
	}
	return object.SetCondition(list, Condition{Type: "Invalid", Status: True, Reason: invalidReason, Message: message, LastTransitionTime: s.now})
}

func without(list []Condition, kind string) []Condition {
	return slices.DeleteFunc(slices.Clone(list), func(c Condition) bool { return c.Type == kind })
}

// setUpgradeable joins what operators and overrides say of changing the minor
// version. Where nobody has anything against it there is no condition.
func (s *step) setUpgradeable(list []Condition) []Condition {
	against := s.w.upgradeable()
	if hasOverrides(s.w.Cluster) {
		against = append(against, Condition{Reason: "ClusterVersionOverridesSet", Message: "spec.overrides keeps resources from being updated; remove it before the next minor version"})
	}
	if len(against) == 0 {
		return without(list, "Upgradeable")
	}
	c := Condition{Type: "Upgradeable", Status: False, Reason: against[0].Reason, Message: told(against[0]), LastTransitionTime: s.now}
	if len(against) > 1 {
		c.Reason, c.Message = "MultipleReasons", "Cluster should not be upgraded between minor or major versions for multiple reasons:"
		for _, a := range against {
			c.Message += "\n* " + told(a)
		}
	}
	if c.Reason == "" {
		c.Reason = "ClusterOperatorUpgradeable"
	}
	return object.SetCondition(list, c)
}

func told(c Condition) string {
	if c.Type == "" {
		return c.Message
	}
	return fmt.Sprintf("Cluster operator %s should not be upgraded between minor versions: %s", c.Type, strings.TrimPrefix(why(&c), ": "))
}
