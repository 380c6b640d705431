package taints

import (
	"strings"
	"time"
)

// Action is something to do, one of
//
//   - [Evict], which makes a pod leave its node;
//   - [EditTaints], which puts taints on a node and takes others off;
//   - [SetConditions], which says that nothing is known of a node;
//   - [MarkNotReady], which says that a pod on such a node does not serve.
//
// Each may be applied again, and too late. A backend changes an object only if
// it has the UID of the action; if it has not, or the object is as the action
// wants it already, the backend returns nil.
type Action interface {
	key() string
}

// Key tells which action a is: it is the same each time that the same thing is
// to be done, and different for different things.
func Key(a Action) string { return a.key() }

// Evict makes a pod leave its node.
//
// A backend deletes the pod, on the precondition of its UID, and notes in its
// condition DisruptionTarget what for. With Budget it goes through the eviction
// API, which looks at disruption budgets; its refusal is an error. A pod that is
// being deleted already is left alone.
type Evict struct {
	Pod        PodRef      `json:"pod"`                  // the pod; without UID whatever pod has the name
	Node       string      `json:"node"`                 // where it is
	Taint      Taint       `json:"taint"`                // what for
	Toleration *Toleration `json:"toleration,omitempty"` // what has let it stay so far; nil if nothing
	At         time.Time   `json:"at"`                   // when it was due
	Budget     bool        `json:"budget,omitempty"`     // whether disruption budgets are asked
}

// EditTaints changes taints of a node in one write, so that nobody sees the node
// with both of two that exclude each other, or with neither.
//
// A backend takes off the taints that have key and effect of one in Remove, and
// then puts those of Add there, each in place of the one that has its key and
// effect. All others stay.
type EditTaints struct {
	Node   string  `json:"node"`             // its name
	UID    string  `json:"uid,omitempty"`    // its UID
	Add    []Taint `json:"add,omitempty"`    // to be there
	Remove []Taint `json:"remove,omitempty"` // not to be there; key and effect count
}

// SetConditions says of a silent node that nothing is known of it.
//
// A backend replaces the conditions of the types given. It changes nothing, and
// returns nil, when the node has reported since.
type SetConditions struct {
	Node       string          `json:"node"`               // its name
	UID        string          `json:"uid,omitempty"`      // its UID
	Heartbeat  time.Time       `json:"heartbeat,omitzero"` // its last report when this was decided, in its own time
	Conditions []NodeCondition `json:"conditions"`         // the new ones
}

// MarkNotReady sets the condition Ready of a pod to False, so that no service
// counts on it. A backend leaves a pod alone that is not ready.
type MarkNotReady struct {
	Pod PodRef `json:"pod"` // the pod
}

func (a Evict) key() string { return "evict " + a.Pod.String() + " " + a.Pod.UID }

func (a EditTaints) key() string {
	var b strings.Builder
	b.WriteString("taints of " + a.Node)
	for _, t := range a.Add {
		b.WriteString(" +" + t.Key + "=" + t.Value + ":" + string(t.Effect))
	}
	for _, t := range a.Remove {
		b.WriteString(" -" + t.Key + ":" + string(t.Effect))
	}
	return b.String()
}

func (a SetConditions) key() string { return "conditions of " + a.Node }

func (a MarkNotReady) key() string { return "not ready " + a.Pod.String() + " " + a.Pod.UID }
