package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/object"
)

// The conditions of pools.
const (
	ConditionUpdated      = "Updated"      // all nodes run what the pool is to run
	ConditionUpdating     = "Updating"     // nodes are being brought there
	ConditionNodeDegraded = "NodeDegraded" // a node could not be
	ConditionDegraded     = "Degraded"     // something needs help
)

// Status reports on a pool: its counts and conditions. Conditions of other
// types stay as they are.
func Status(w *World, now time.Time) PoolStatus {
	s := PoolStatus{MachineCount: len(w.Nodes), Conditions: slices.Clone(w.Pool.Status.Conditions)}
	var reports []string
	for i := range w.Nodes {
		n := &w.Nodes[i]
		if Updated(&w.Pool, n) {
			s.UpdatedMachineCount++
			if Ready(n) {
				s.ReadyMachineCount++
			}
		}
		if Unavailable(n) {
			s.UnavailableMachineCount++
		}
		if degraded(n) {
			s.DegradedMachineCount++
			reports = append(reports, fmt.Sprintf("Node %s is reporting: %q", n.Name, n.Annotations[AnnotationReason]))
		}
	}
	slices.Sort(reports)
	set := func(kind string, holds bool, reason, message string) {
		status := object.ConditionFalse
		if holds {
			status = object.ConditionTrue
		}
		s.Conditions = object.SetCondition(s.Conditions, Condition{Type: kind, Status: status, LastTransitionTime: now, Reason: reason, Message: message})
	}
	name := w.Pool.Spec.Configuration.Name
	switch updated := s.UpdatedMachineCount == s.MachineCount && s.ReadyMachineCount == s.MachineCount && s.UnavailableMachineCount == 0; {
	case updated:
		set(ConditionUpdated, true, "", "All nodes are updated with MachineConfig "+name)
		set(ConditionUpdating, false, "", "")
	case w.Pool.Spec.Paused:
		set(ConditionUpdated, false, "", "")
		set(ConditionUpdating, false, "", "Pool is paused; will not update to "+name)
	default:
		set(ConditionUpdated, false, "", "")
		set(ConditionUpdating, true, "", "All nodes are updating to MachineConfig "+name)
	}
	if len(reports) == 0 {
		set(ConditionNodeDegraded, false, "", "")
	} else {
		set(ConditionNodeDegraded, true, fmt.Sprintf("%d nodes are reporting degraded status on sync", len(reports)), strings.Join(reports, ", "))
	}
	render := object.FindCondition(s.Conditions, "RenderDegraded")
	build := object.FindCondition(s.Conditions, "BuildDegraded")
	holds := func(c *Condition) bool { return c != nil && c.Status == object.ConditionTrue }
	set(ConditionDegraded, len(reports) > 0 || holds(render) || holds(build), "", "")
	return s
}

// degraded reports whether a node says that it could not be updated.
func degraded(n *Node) bool {
	state := n.Annotations[AnnotationState]
	return state == StateDegraded || state == StateUnreconcilable
}

// equal reports whether two reports say the same.
func (s *PoolStatus) equal(o *PoolStatus) bool {
	return s.MachineCount == o.MachineCount && s.UpdatedMachineCount == o.UpdatedMachineCount &&
		s.ReadyMachineCount == o.ReadyMachineCount && s.UnavailableMachineCount == o.UnavailableMachineCount &&
		s.DegradedMachineCount == o.DegradedMachineCount && slices.EqualFunc(s.Conditions, o.Conditions, func(a, b Condition) bool {
		return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message && a.LastTransitionTime.Equal(b.LastTransitionTime)
	})
}
