package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// The conditions of pools.
const (
	ConditionUpdated      = "Updated"      // all nodes run the pool's configuration
	ConditionUpdating     = "Updating"     // nodes are being updated
	ConditionNodeDegraded = "NodeDegraded" // a node could not be updated
	ConditionDegraded     = "Degraded"     // something needs attention
)

// Status reports on a pool: its counts and conditions. Conditions of other
// types stay as they are.
func Status(w *World, now time.Time) PoolStatus {
	p := &w.Pool
	s := PoolStatus{
		MachineCount: len(w.Nodes), Conditions: slices.Clone(p.Status.Conditions),
		ObservedGeneration: p.Generation, Configuration: p.Status.Configuration,
	}
	var reports []string
	for i := range w.Nodes {
		n := &w.Nodes[i]
		if Updated(p, n) {
			s.UpdatedMachineCount++
			if Ready(n) {
				s.ReadyMachineCount++
			}
		}
		if Unavailable(n) {
			s.UnavailableMachineCount++
		}
		if Stuck(n) {
			s.DegradedMachineCount++
			if why := n.Annotations[AnnotationReason]; why != "" {
				reports = append(reports, fmt.Sprintf("Node %s is reporting: %q", n.Name, why))
			}
		}
	}
	slices.Sort(reports)
	set := func(kind string, holds bool, reason, message string) {
		status := fairlead.ConditionFalse
		if holds {
			status = fairlead.ConditionTrue
		}
		s.Conditions = fairlead.SetCondition(s.Conditions, Condition{Type: kind, Status: status, LastTransitionTime: now.UTC().Truncate(time.Second), Reason: reason, Message: message})
	}
	all := s.UpdatedMachineCount == s.MachineCount && s.ReadyMachineCount == s.MachineCount && s.UnavailableMachineCount == 0 && !w.Build.outdates(p)
	if all {
		set(ConditionUpdated, true, "", "All nodes are updated with "+line(p))
		s.Configuration = p.Spec.Configuration
	} else {
		set(ConditionUpdated, false, "", "")
	}
	updating, message := w.updating(all)
	set(ConditionUpdating, updating, "", message)
	message = strings.Join(reports, ", ")
	if n := s.DegradedMachineCount; n == 0 {
		set(ConditionNodeDegraded, false, "", "")
	} else {
		set(ConditionNodeDegraded, true, fmt.Sprintf("%d nodes are reporting degraded status on sync", n), message)
	}
	build := w.Build != nil && w.Build.State == BuildFailed
	if build && message == "" {
		message = w.Build.String()
	}
	set(ConditionDegraded, s.DegradedMachineCount > 0 || build || holds(s.Conditions, "RenderDegraded") || w.Build == nil && holds(s.Conditions, "BuildDegraded"), "", message)
	return s
}

// updating returns the condition Updating; all says that the pool is updated.
func (w *World) updating(all bool) (bool, string) {
	p := &w.Pool
	waits := w.Build != nil && w.Build.State != BuildSucceeded
	switch {
	case w.Build != nil && p.Spec.Paused && (waits || !all):
		return w.Build.updating(true)
	case waits && (holds(p.Status.Conditions, ConditionNodeDegraded) || holds(p.Status.Conditions, "RenderDegraded")):
		return false, "the pool is degraded, and its update waits for the repair"
	case w.Build != nil && (waits || !all):
		return w.Build.updating(false)
	case all:
		return false, ""
	case p.Spec.Paused:
		return false, "Pool is paused; will not update to " + line(p)
	}
	return true, "All nodes are updating to " + line(p)
}

// line names the configuration of a pool.
func line(p *Pool) string {
	text := "MachineConfig " + p.Spec.Configuration.Name
	if image := p.Spec.Configuration.Image; image != "" {
		text += " / Image " + image
	}
	return text
}

// Trouble returns the condition with which a pool says that it is degraded: the first that holds of
// RenderDegraded, NodeDegraded and BuildDegraded, which say why, or else Degraded; nil if none does.
// It points into the pool.
func Trouble(p *Pool) *fairlead.Condition {
	for _, kind := range [...]string{"RenderDegraded", ConditionNodeDegraded, "BuildDegraded", ConditionDegraded} {
		if holds(p.Status.Conditions, kind) {
			return fairlead.FindCondition(p.Status.Conditions, kind)
		}
	}
	return nil
}

// holds reports whether a condition is True.
func holds(list []Condition, kind string) bool {
	c := fairlead.FindCondition(list, kind)
	return c != nil && c.Status == fairlead.ConditionTrue
}

// equal reports whether two reports say the same.
func (s *PoolStatus) equal(o *PoolStatus) bool {
	return s.MachineCount == o.MachineCount && s.UpdatedMachineCount == o.UpdatedMachineCount &&
		s.ReadyMachineCount == o.ReadyMachineCount && s.UnavailableMachineCount == o.UnavailableMachineCount &&
		s.DegradedMachineCount == o.DegradedMachineCount && s.ObservedGeneration == o.ObservedGeneration && s.Configuration == o.Configuration && slices.EqualFunc(s.Conditions, o.Conditions, func(a, b Condition) bool {
		return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message && a.LastTransitionTime.Equal(b.LastTransitionTime)
	})
}
