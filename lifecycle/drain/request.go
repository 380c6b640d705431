package drain

import (
	"cmp"
	"time"
)

// Purpose is what a node is taken out of service for.
type Purpose string

// The purposes, with what ends a request by itself. Regardless of its purpose, a
// request ends when it is cancelled, and when its Until has passed.
const (
	Maintenance Purpose = "Maintenance" // somebody works on the node: nothing else ends it
	Reboot      Purpose = "Reboot"      // the node reboots: over once it was empty, has booted, and reports again
	Removal     Purpose = "Removal"     // the node is removed: over once it is gone
)

// Request requests that a node be taken out of service: no new pods, and existing
// ones evicted. There may be several for one node, from anyone.
type Request struct {
	Name      string    `json:"name"`                // unique among the requests of the node
	UID       string    `json:"uid"`                 // distinguishes it from another request of that name
	Requester string    `json:"requester"`           // who asks, as in "kured" or "jane@example.com"
	Why       string    `json:"why,omitempty"`       // for people
	Purpose   Purpose   `json:"purpose"`             // empty means Maintenance
	NodeUID   string    `json:"nodeUID,omitempty"`   // the UID of the node; empty means any node of that name
	Asked     time.Time `json:"asked"`               // when it was created
	Until     time.Time `json:"until,omitzero"`      // when it ends by itself; zero for never
	Paused    bool      `json:"paused,omitempty"`    // nothing more is done for it, and nothing is undone
	Cancelled bool      `json:"cancelled,omitempty"` // it is withdrawn, or its object is being deleted
	// Priority gives it slots before requests with a lower one.
	Priority int `json:"priority,omitempty"`
	// ReplaceFirst replaces the node before it is drained, if that is possible and a
	// limit has room for it. See Limit.Surge.
	ReplaceFirst bool `json:"replaceFirst,omitempty"`
	// Status is its last reported status.
	Status Status `json:"status,omitzero"`
}

// Phase is the phase of a request.
type Phase string

// The phases.
const (
	PhaseWaiting  Phase = "Waiting"  // for a slot
	PhaseDraining Phase = "Draining" // the node is being emptied
	PhaseDrained  Phase = "Drained"  // the node is empty: the requester may proceed
	PhasePaused   Phase = "Paused"   // it is paused
	PhaseOver     Phase = "Over"     // it has ended
)

// Status is the reported status of a request.
type Status struct {
	Phase  Phase  `json:"phase,omitempty"`  // its phase
	Reason string `json:"reason,omitempty"` // why it is over, or why the drain does not proceed: a word
}

// Why a request is over.
const (
	OverCancelled = "Cancelled" // it was cancelled
	OverExpired   = "Expired"   // its Until has passed
	OverBooted    = "Booted"    // the node has booted
	OverGone      = "NodeGone"  // the node is gone, or was replaced
)

// World is what is observed of a node with requests. It may be stale, but all of its
// parts must be of the same age. Lists may be in any order.
type World struct {
	Name     string    `json:"name"`               // the node's
	Requests []Request `json:"requests,omitempty"` // for the node
	// Slots are those that the node needs and does not have, see [Admit] and
	// [MemberOf]. Once it is being taken out of service they do not count.
	Slots []TakenSlot `json:"slots,omitempty"`
	// Replacement is whether another node can replace it, and the progress of that.
	Replacement Replacement `json:"replacement,omitempty"`
	// BootID is the node's status.nodeInfo.bootID; empty if unknown. It ends requests
	// to reboot.
	BootID string `json:"bootID,omitempty"`
	// Fenced is whether it is proven that the node is powered off, or cut off from
	// storage and network, and stays so: somebody must provide the evidence. A
	// condition that is Unknown proves nothing.
	Fenced bool `json:"fenced,omitempty"`

	View
}

// RequestState is what is remembered of a request.
type RequestState struct {
	UID string `json:"uid"` // the request's
	// Boot is the node's boot ID when the node was first empty for the request.
	Boot string `json:"boot,omitempty"`
	// Over is why the request is over; it stays so until the request is gone.
	Over string `json:"over,omitempty"`
}

// MemberOf returns the node of a world in the form that limits count: it should go
// while there is a request for it that is not paused, or it is cordoned; it is down
// while it is cordoned or does not report that it is ready. A node that does not
// exist is not a member: ok is false.
func MemberOf(w *World, now time.Time) (m Member, ok bool) {
	n := w.Node
	if n == nil {
		return Member{}, false
	}
	m = Member{Name: n.Name, UID: n.UID, Labels: n.Labels}
	switch {
	case n.Spec.Unschedulable:
		m.Down = "cordoned"
	case !heard(n):
		m.Down = "not ready"
	}
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == "Ready" && c.Status != "True" {
			m.DownSince = c.LastTransitionTime
		}
	}
	first := true
	for i := range w.Requests {
		r := &w.Requests[i]
		if r.Cancelled || r.Status.Phase == PhaseOver || !r.Until.IsZero() && !r.Until.After(now) || r.NodeUID != "" && r.NodeUID != n.UID {
			continue
		}
		if r.Paused && !n.Spec.Unschedulable {
			continue
		}
		if first || r.Priority > m.Priority {
			m.Priority = r.Priority
		}
		if asked := cmp.Or(r.Asked, time.Unix(0, 0)); first || asked.Before(m.Asked) {
			m.Asked = asked
		}
		if r.ReplaceFirst {
			m.Replacement = w.Replacement
		}
		m.Begun = m.Begun || r.Status.Phase == PhaseDraining || r.Status.Phase == PhaseDrained
		if r.Paused {
			m.Held = "request " + r.Name + " of " + r.Requester + " is paused"
		}
		first = false
	}
	return m, true
}
