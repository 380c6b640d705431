package lifecycle

import (
	"slices"
	"strings"
	"time"
)

// Severity is how bad it is that a condition is False.
type Severity string

// The severities of the Machine API. It is empty for every status but False.
const (
	SeverityError   Severity = "Error"   // somebody must act
	SeverityWarning Severity = "Warning" // it may resolve itself
	SeverityInfo    Severity = "Info"    // it is not a problem
)

// The types of conditions that the engine writes.
const (
	ConditionDrainable  = "Drainable"  // no preDrain hook is left
	ConditionDrained    = "Drained"    // the drain is over
	ConditionTerminable = "Terminable" // no preTerminate hook is left
)

// ConditionInstance is the type of the condition by which the Machine API says whether a machine has an instance.
const ConditionInstance = "InstanceExists"

// Condition is one reported fact about a machine.
type Condition struct {
	Type     string          `json:"type"`               // which fact; once per machine
	Status   ConditionStatus `json:"status"`             // whether it holds
	Severity Severity        `json:"severity,omitempty"` // how bad it is; only with False
	// LastTransitionTime is when Status last changed, to the second.
	LastTransitionTime time.Time `json:"lastTransitionTime,omitzero"`
	Reason             string    `json:"reason,omitempty"`  // one word for programs
	Message            string    `json:"message,omitempty"` // a sentence for people
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

// setCondition returns conditions with c in them, ordered by type. The argument
// is not changed.
func setCondition(conditions []Condition, c Condition) []Condition {
	out := slices.Clone(conditions)
	if old := FindCondition(out, c.Type); old != nil {
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		*old = c
	} else {
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
	return out
}

// equal reports whether two conditions are the same, including their times.
func (c Condition) equal(o Condition) bool {
	at := c.LastTransitionTime.Equal(o.LastTransitionTime)
	c.LastTransitionTime = o.LastTransitionTime
	return at && c == o
}

// meta returns the condition in the form of Kubernetes (metav1.Condition):
// without severity, and with a reason that is a word in CamelCase.
func (c Condition) meta() Condition {
	c.Severity = ""
	if c.Reason == "" {
		switch {
		case c.Type == ConditionDrained && c.Status == "True":
			c.Reason = "DrainOver"
		case c.Status == "True":
			c.Reason = noHooks
		default:
			c.Reason = "NoReason"
		}
	}
	return c
}
