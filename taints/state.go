package taints

import (
	"time"
)

// StateVersion is the version of the form of [State].
const StateVersion = 2

// State is what the engine remembers of a node. The zero State knows nothing.
// It survives encoding/json. Its size depends on the taints of the node and the
// pods on their way out, not on the pods that wait.
type State struct {
	UID       string       `json:"uid,omitempty"`       // the node's; another one of the same name begins anew
	Taints    []TaintStart `json:"taints,omitempty"`    // when each NoExecute taint began, by key
	Evictions []Eviction   `json:"evictions,omitempty"` // that were decided on and not seen, in the order in which they were due
	Writes    []Retry      `json:"writes,omitempty"`    // other actions whose effect is not seen, by key
	Silence   *Silence     `json:"silence,omitempty"`   // nil while the node reports
}

// TaintStart is when a taint of effect NoExecute began: its TimeAdded, or when
// it was seen first if it has none or one that lay ahead of the clock.
type TaintStart struct {
	Key       string     `json:"key"`                 // the taint's
	Value     string     `json:"value,omitempty"`     // the taint's; another one begins again
	TimeAdded *time.Time `json:"timeAdded,omitempty"` // the taint's when it was seen first; another one begins again
	Since     time.Time  `json:"since"`               // when it began
	Before    []KeyValue `json:"before,omitempty"`    // see Started, the oldest first; of many the latest
	First     time.Time  `json:"first,omitzero"`      // see Started
}

// KeyValue is what tells taints of effect NoExecute apart.
type KeyValue struct {
	Key   string `json:"key"`             // the taint's
	Value string `json:"value,omitempty"` // the taint's
}

// Eviction is one that has been decided on and whose effect is not seen yet.
type Eviction struct {
	PodRef
	At       time.Time `json:"at"`       // the deadline; another one begins anew
	Since    time.Time `json:"since"`    // the first attempt
	Attempts int       `json:"attempts"` // how many there were
	Next     time.Time `json:"next"`     // no other before that
}

// Retry is an action whose effect has not been seen.
type Retry struct {
	Key      string    `json:"key"`      // the action's
	Since    time.Time `json:"since"`    // when it was decided on first
	Attempts int       `json:"attempts"` // how often it was decided on
	Next     time.Time `json:"next"`     // not again before that
}

// Silence is what is kept of a node that has not reported for half of its grace
// period, so that a restart does not begin the period anew.
type Silence struct {
	Heartbeat time.Time `json:"heartbeat,omitzero"` // the last report, in the node's time
	Since     time.Time `json:"since"`              // when it was seen, in ours
}

// PodRef names one pod and no other.
type PodRef struct {
	Namespace string `json:"namespace"`     // where it lives
	Name      string `json:"name"`          // the name, which others may have after it
	UID       string `json:"uid,omitempty"` // its own for good
}

// String returns "namespace/name".
func (r PodRef) String() string { return r.Namespace + "/" + r.Name }

func refOf(p *Pod) PodRef { return PodRef{p.Namespace, p.Name, p.UID} }

func (s *State) isZero() bool {
	return len(s.Taints) == 0 && len(s.Evictions) == 0 && len(s.Writes) == 0 && s.Silence == nil
}
