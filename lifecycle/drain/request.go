package drain

import (
	"cmp"
	"time"
)

// Purpose is what a node is taken out of service for.
type Purpose string

// The purposes, with what ends a request by itself. Whatever its purpose, it ends
// when it is cancelled, and when its Until has passed.
const (
	Maintenance Purpose = "Maintenance" // somebody works on the node: nothing else ends it
	Reboot      Purpose = "Reboot"      // the node boots again: over once it was empty, has booted, and is heard of
	Removal     Purpose = "Removal"     // the node goes: over once it is gone
)

// Request asks for a node to be taken out of service: no new pods, and those
// there evicted. There may be several for one node, of anybody.
type Request struct {
	Name      string    `json:"name"`                // unique among the requests of the node
	UID       string    `json:"uid"`                 // another request of that name is not meant
	Requester string    `json:"requester"`           // who asks, as in "kured" or "jane@example.com"
	Why       string    `json:"why,omitempty"`       // in words
	Purpose   Purpose   `json:"purpose"`             // empty means Maintenance
	NodeUID   string    `json:"nodeUID,omitempty"`   // the node that is meant; empty means whichever has the name
	Asked     time.Time `json:"asked"`               // when it was made
	Until     time.Time `json:"until,omitzero"`      // when it ends by itself; zero for never
	Paused    bool      `json:"paused,omitempty"`    // nothing more is done for it, and nothing undone
	Cancelled bool      `json:"cancelled,omitempty"` // it is taken back, or its object is being deleted
	// Priority has it get slots before requests with a lower one.
	Priority int `json:"priority,omitempty"`
	// ReplaceFirst has the node replaced before it is drained, where that can be and
	// a limit has room for it. See Limit.Surge.
	ReplaceFirst bool `json:"replaceFirst,omitempty"`
	// Status is what was last reported of it.
	Status Status `json:"status,omitzero"`
}

// Phase is how far a request is.
type Phase string

// The phases.
const (
	PhaseWaiting  Phase = "Waiting"  // for a slot
	PhaseDraining Phase = "Draining" // the node is being emptied
	PhaseDrained  Phase = "Drained"  // the node is empty: the requester may go on
	PhasePaused   Phase = "Paused"   // it is paused
	PhaseOver     Phase = "Over"     // it asks for nothing any more
)

// Status is what is reported of a request.
type Status struct {
	Phase  Phase  `json:"phase,omitempty"`  // how far it is
	Reason string `json:"reason,omitempty"` // why it is over, or why the drain does not go on: a word
}

// Why a request is over.
const (
	OverCancelled = "Cancelled" // it was cancelled
	OverExpired   = "Expired"   // its Until has passed
	OverBooted    = "Booted"    // the node has booted
	OverGone      = "NodeGone"  // the node is gone, or another one
)

// World is what is observed of a node with requests. It may be stale, but all
// of its parts must be of the same age. Lists may be in any order.
type World struct {
	Name     string    `json:"name"`               // the node's
	Requests []Request `json:"requests,omitempty"` // for the node
	// Slots are those that the node would need and does not have, see [Admit] and
	// [MemberOf]. Once it is on its way out of service they do not count.
	Slots []TakenSlot `json:"slots,omitempty"`
	// Replacement is whether another node can come in its stead, and how far that is.
	Replacement Replacement `json:"replacement,omitempty"`
	// BootID is the node's status.nodeInfo.bootID; empty if it is not known. It ends
	// requests to reboot.
	BootID string `json:"bootID,omitempty"`
	// Fenced is whether it is proven that the node is powered off, or cut off from
	// storage and network, and stays so: evidence that somebody brings. A condition
	// that is Unknown proves nothing.
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

// MemberOf returns the node of a world as limits count it: as what is asked to go
// while a request asks for it that is not paused, or the node is cordoned; and as
// what is down while it is cordoned or does not say that it is ready. A node that
// is not there is no member: ok is false.
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
