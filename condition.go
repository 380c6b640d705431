package fairlead

import (
	"slices"
	"time"
)

// ConditionStatus is whether a condition holds.
type ConditionStatus string

// The three values of the API.
const (
	ConditionTrue    ConditionStatus = "True"
	ConditionFalse   ConditionStatus = "False"
	ConditionUnknown ConditionStatus = "Unknown"
)

// Condition is one fact that a controller reports on an object.
type Condition struct {
	Type               string          `json:"type"`                         // which fact; once per object
	Status             ConditionStatus `json:"status"`                       // whether it holds
	ObservedGeneration int64           `json:"observedGeneration,omitempty"` // the generation it was determined for; 0 if not reported
	LastTransitionTime time.Time       `json:"lastTransitionTime,omitzero"`  // when Status last changed
	Reason             string          `json:"reason,omitempty"`             // one word for machines
	Message            string          `json:"message,omitempty"`            // a sentence for people
}

// FindCondition returns the condition of a type, or nil. It points into
// conditions.
func FindCondition(conditions []Condition, kind string) *Condition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// SetCondition returns conditions with c in place of the one of its type, or
// appended. If the status is the same, c keeps the time of the condition that
// it replaces. The argument is not changed; if nothing changes, the argument is
// returned without a copy, so clone the result before you modify it.
func SetCondition(conditions []Condition, c Condition) []Condition {
	conditions = slices.Clip(conditions) // so that nobody appends to a slice that others hold
	old := FindCondition(conditions, c.Type)
	if old == nil {
		return append(conditions, c)
	}
	if old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	if *old == c {
		return conditions
	}
	out := slices.Clone(conditions)
	*FindCondition(out, c.Type) = c
	return out
}

// NodeCondition is one fact about a node, with the time of its last report.
type NodeCondition struct {
	Type               string          `json:"type"`                        // which fact; once per object
	Status             ConditionStatus `json:"status"`                      // whether it holds
	LastHeartbeatTime  time.Time       `json:"lastHeartbeatTime,omitzero"`  // when it was last reported
	LastTransitionTime time.Time       `json:"lastTransitionTime,omitzero"` // when Status last changed
	Reason             string          `json:"reason,omitempty"`            // one word for machines
	Message            string          `json:"message,omitempty"`           // a sentence for people
}
