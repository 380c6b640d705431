package eviction

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Action is something to do, one of
//
//   - [Evict], which makes a pod leave its node;
//   - [EditTaints], which adds and removes taints of a node;
//   - [SetConditions], which sets the conditions of a silent node to Unknown;
//   - [MarkNotReady], which marks a pod on such a node as not ready.
//
// Each may be applied again, and late. A backend changes an object only if it has
// the UID of the action; otherwise, or if the object is already as requested, the
// backend returns nil.
type Action interface {
	fairlead.Action
	action()
}

// kinds are one action of each kind.
func kinds() []Action { return []Action{Evict{}, EditTaints{}, SetConditions{}, MarkNotReady{}} }

// Evict makes a pod leave its node.
//
// A backend deletes the pod, with its UID as a precondition, and records the
// reason in its condition DisruptionTarget. With Budget it uses the eviction API,
// which respects disruption budgets; return its refusal as a
// [*fairlead.RefusedError]. A pod that is already being deleted is left alone.
type Evict struct {
	Pod        PodRef               `json:"pod"`                  // the pod
	Node       string               `json:"node"`                 // where it is
	Taint      fairlead.Taint       `json:"taint"`                // the cause
	Toleration *fairlead.Toleration `json:"toleration,omitempty"` // what let it stay so far; nil if nothing
	At         time.Time            `json:"at"`                   // when it was due
	Budget     bool                 `json:"budget,omitempty"`     // whether disruption budgets are respected
}

// EditTaints changes taints of a node in one write, so that nobody sees the node
// with both, or neither, of two taints that exclude each other.
//
// A backend removes the taints that have the key and effect of one in Remove,
// and then adds those of Add, each in place of an existing one with its key and
// effect. All others stay.
type EditTaints struct {
	Node   string           `json:"node"`             // its name
	UID    string           `json:"uid,omitempty"`    // its UID
	Add    []fairlead.Taint `json:"add,omitempty"`    // taints to add
	Remove []fairlead.Taint `json:"remove,omitempty"` // taints to remove, by key and effect
}

// SetConditions sets the conditions of a silent node to Unknown.
//
// A backend replaces the conditions of the given types. If the node has reported
// since, it changes nothing and returns nil.
type SetConditions struct {
	Node       string                   `json:"node"`               // its name
	UID        string                   `json:"uid,omitempty"`      // its UID
	Heartbeat  time.Time                `json:"heartbeat,omitzero"` // its last report when this was decided, by its own clock
	Conditions []fairlead.NodeCondition `json:"conditions"`         // the new ones
}

// MarkNotReady sets the condition Ready of a pod to False, so that services stop
// using it. A backend leaves pods alone that are not ready.
type MarkNotReady struct {
	Pod PodRef `json:"pod"` // the pod
}

// Key implements fairlead.Action: the pod's UID.
func (a Evict) Key() fairlead.Key { return fairlead.Key{Kind: "Evict", ID: a.Pod.UID} }

// Key implements fairlead.Action: the node's UID, and what is changed, because
// another change need not wait until the first is observed.
func (a EditTaints) Key() fairlead.Key {
	return fairlead.Key{Kind: "EditTaints", ID: identity(a.Node, a.UID) + a.changes()}
}

// Key implements fairlead.Action: the node's UID.
func (a SetConditions) Key() fairlead.Key {
	return fairlead.Key{Kind: "SetConditions", ID: identity(a.Node, a.UID)}
}

// Key implements fairlead.Action: the pod's UID.
func (a MarkNotReady) Key() fairlead.Key { return fairlead.Key{Kind: "MarkNotReady", ID: a.Pod.UID} }

// identity is the UID of an object, or its name if it has none.
func identity(name, uid string) string {
	if uid != "" {
		return uid
	}
	return name
}

// String implements fairlead.Action.
func (a Evict) String() string {
	s := "evict " + a.Pod.String() + " from " + a.Node + " for " + a.Taint.String()
	if a.Budget {
		s += " if budgets allow"
	}
	return s
}

// String implements fairlead.Action.
func (a EditTaints) String() string { return "taints of " + a.Node + a.changes() }

// changes lists what is added and what is removed.
func (a EditTaints) changes() string {
	var b strings.Builder
	for _, t := range a.Add {
		b.WriteString(" +" + t.String())
	}
	for _, t := range a.Remove {
		b.WriteString(" -" + fairlead.Taint{Key: t.Key, Effect: t.Effect}.String())
	}
	return b.String()
}

// String implements fairlead.Action.
func (a SetConditions) String() string {
	var b strings.Builder
	b.WriteString("conditions of " + a.Node + ":")
	for _, c := range a.Conditions {
		b.WriteString(" " + c.Type + "=" + string(c.Status) + " (" + c.Reason + ")")
	}
	return b.String()
}

// String implements fairlead.Action.
func (a MarkNotReady) String() string { return "mark " + a.Pod.String() + " as not ready" }

func (Evict) action()         {}
func (EditTaints) action()    {}
func (SetConditions) action() {}
func (MarkNotReady) action()  {}
