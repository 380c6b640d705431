package drain

import (
	"time"

	"github.com/fairlead/fairlead"
)

// The conditions of a node that report its drain and maintenance to others (KEP
// 5683, alpha in Kubernetes 1.37, as of commit 64765b4 of kubernetes/enhancements).
const (
	ConditionDrainInProgress       = "DrainInProgress"       // it is being drained
	ConditionDrained               = "Drained"               // it is empty
	ConditionMaintenancePlanned    = "MaintenancePlanned"    // maintenance is planned
	ConditionMaintenanceInProgress = "MaintenanceInProgress" // maintenance is in progress
)

// Reasons of these conditions.
const (
	ReasonAdminRequested    = "AdminRequested"    // somebody requested it
	ReasonDrainCompleted    = "DrainCompleted"    // nothing is left to remove
	ReasonMaintenanceWindow = "MaintenanceWindow" // somebody requested it, until a time
)

// NodeConditions returns the conditions that a node should have by the reported
// status of the requests about it, if they differ from those it has:
//
//  1. DrainInProgress while a request is Draining;
//  2. Drained once one is Drained, and none Draining;
//  3. MaintenancePlanned while a request for anything but removal is Waiting, has no
//     status yet, or is Draining;
//  4. MaintenanceInProgress while such a request is Drained.
//
// A missing condition counts as False; none is added only to say so. The KEP lets
// whoever drains write them, and locks out nobody: if others also write them, the
// last one wins. node must not be nil.
func NodeConditions(node *Node, requests []Request, now time.Time) []fairlead.NodeCondition {
	var draining, drained, planned, working *Request
	first := func(at **Request, r *Request) {
		if *at == nil || r.Asked.Before((*at).Asked) {
			*at = r
		}
	}
	for i := range requests {
		r := &requests[i]
		if r.NodeUID != "" && r.NodeUID != node.UID {
			continue
		}
		maintained := r.Purpose != Removal
		switch r.Status.Phase {
		case PhaseDraining:
			first(&draining, r)
			if maintained {
				first(&planned, r)
			}
		case PhaseDrained:
			first(&drained, r)
			if maintained {
				first(&working, r)
			}
		case PhaseWaiting, "":
			if maintained && !r.Cancelled && !r.Paused {
				first(&planned, r)
			}
		}
	}
	if draining != nil {
		drained = nil
	}
	var all []fairlead.NodeCondition
	for _, c := range []struct {
		kind string
		by   *Request
	}{
		{ConditionDrainInProgress, draining}, {ConditionDrained, drained}, {ConditionMaintenancePlanned, planned}, {ConditionMaintenanceInProgress, working},
	} {
		if n, differs := nodeCondition(node, c.kind, c.by, now); differs {
			all = append(all, n)
		}
	}
	return all
}

// nodeCondition returns a condition that holds because of a request, or does not,
// and whether it differs from that of the node.
func nodeCondition(node *Node, kind string, by *Request, now time.Time) (n fairlead.NodeCondition, differs bool) {
	n = fairlead.NodeCondition{Type: kind, Status: fairlead.ConditionFalse, LastHeartbeatTime: now, LastTransitionTime: now, Reason: "NotRequested", Message: "there is no request for it"}
	if by != nil {
		n.Status, n.Reason, n.Message = fairlead.ConditionTrue, ReasonAdminRequested, "request "+by.Name+" of "+by.Requester
		switch {
		case kind == ConditionDrained:
			n.Reason = ReasonDrainCompleted
		case !by.Until.IsZero() && kind != ConditionDrainInProgress:
			n.Reason = ReasonMaintenanceWindow
			n.Message += ", until " + by.Until.UTC().Format(time.RFC3339)
		}
		if by.Why != "" {
			n.Message += ": " + by.Why
		}
	}
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		if c.Type != kind {
			continue
		}
		if c.Status == n.Status {
			n.LastTransitionTime = c.LastTransitionTime
		}
		return n, c.Status != n.Status || by != nil && (c.Reason != n.Reason || c.Message != n.Message)
	}
	return n, by != nil
}
