package eviction

import (
	"encoding/json"
	"time"

	"github.com/fairlead/fairlead"
)

// StateVersion is the version of the format of [State] and [ZoneState].
const StateVersion = 2

// State is what the engine remembers of a node. The zero State knows nothing. It
// survives encoding/json. Its size depends on the taints of the node and the pods
// being evicted, not on the pods that wait.
type State struct {
	UID     string       `json:"uid,omitempty"`     // the node's; a new node of the same name starts over
	Taints  []TaintStart `json:"taints,omitempty"`  // when each NoExecute taint began, by key
	Silence *Silence     `json:"silence,omitempty"` // nil while the node reports
	fairlead.Pending
}

// Kinds returns one action of each kind, for reading a [Decision] from JSON.
func (State) Kinds() []Action { return kinds() }

// IsZero reports whether the state holds nothing that another Step would not find
// out again.
func (s State) IsZero() bool {
	return len(s.Taints) == 0 && s.Silence == nil && s.Pending.IsZero()
}

// TaintStart is when a taint of effect NoExecute began: its TimeAdded, or when it
// was first seen if TimeAdded is missing or was in the future.
type TaintStart struct {
	Key       string     `json:"key"`                 // the taint's
	Value     string     `json:"value,omitempty"`     // the taint's; another value starts over
	TimeAdded *time.Time `json:"timeAdded,omitempty"` // the taint's when it was first seen; another time starts over
	Since     time.Time  `json:"since"`               // when it began
	Before    []KeyValue `json:"before,omitempty"`    // see Started, the oldest first; if there are many, only the latest
	First     time.Time  `json:"first,omitzero"`      // see Started
}

// KeyValue distinguishes NoExecute taints.
type KeyValue struct {
	Key   string `json:"key"`             // the taint's
	Value string `json:"value,omitempty"` // the taint's
}

// Silence is kept for a node that has not reported for half of its grace period, so
// that a restart does not restart the period.
type Silence struct {
	Heartbeat time.Time `json:"heartbeat,omitzero"` // the last report, by the node's clock
	Since     time.Time `json:"since"`              // when it was seen, by ours
}

// PodRef identifies exactly one pod.
type PodRef struct {
	Namespace string `json:"namespace"` // its namespace
	Name      string `json:"name"`      // the name, which later pods may also have
	UID       string `json:"uid"`       // never reused
}

// String returns "namespace/name".
func (r PodRef) String() string { return r.Namespace + "/" + r.Name }

// RefOf names a pod.
func RefOf(p *fairlead.Pod) PodRef { return PodRef{p.Namespace, p.Name, p.UID} }

// anyValue is the value in a state that was written before values were kept; no
// taint has it.
const anyValue = "*"

// upgrade reads state of version 1. It did not keep the values of taints; what was
// in progress then is decided on again.
func upgrade(_ int, data []byte) (State, error) {
	var s State
	err := json.Unmarshal(data, &s)
	for i := range s.Taints {
		s.Taints[i].Value = anyValue
	}
	return s, err
}

// upgradeZones reads state of version 1, which held the time of a zone's next
// token; what was in progress then is decided on again.
func upgradeZones(_ int, data []byte) (ZoneState, error) {
	var s ZoneState
	if err := json.Unmarshal(data, &s); err != nil {
		return s, err
	}
	var old struct {
		Zones []struct {
			Next time.Time `json:"next"`
		} `json:"zones"`
	}
	err := json.Unmarshal(data, &old)
	for i := range s.Zones {
		if next := old.Zones[i].Next; !next.IsZero() {
			s.Zones[i].Empty = next.Add(-interval(s.Zones[i].Rate))
		}
	}
	return s, err
}
