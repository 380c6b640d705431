package gate

import (
	"fmt"

	"github.com/fairlead/fairlead"
)

// ObjectMeta is the part of an object's metadata that is read.
type ObjectMeta = fairlead.ObjectMeta

// Condition is one fact that is reported on an object.
type Condition = fairlead.Condition

// UpgradeableCondition is the condition by which an operator says whether it
// may be replaced.
const UpgradeableCondition = "Upgradeable"

// ReasonNotUpgradeable is the reason of a pending CSV whose predecessor may not
// be replaced.
const ReasonNotUpgradeable = "OperatorConditionNotUpgradeable"

// OperatorCondition is what an operator reports about itself. It has the name and
// the namespace of the operator's CSV.
type OperatorCondition struct {
	ObjectMeta `json:"metadata"`
	Spec       OperatorConditionSpec   `json:"spec"`   // what was written
	Status     OperatorConditionStatus `json:"status"` // what counts
}

// OperatorConditionSpec is what was written.
type OperatorConditionSpec struct {
	Conditions []Condition `json:"conditions,omitempty"` // by the operator
	Overrides  []Condition `json:"overrides,omitempty"`  // by an administrator, who has the last word
}

// OperatorConditionStatus holds the conditions of the spec once they were
// seen; see Observe.
type OperatorConditionStatus struct {
	Conditions []Condition `json:"conditions,omitempty"` // those of the spec
}

// Observe returns the status that an object has to have: the conditions of its
// spec, as written.
func (c *OperatorCondition) Observe() OperatorConditionStatus {
	return OperatorConditionStatus{Conditions: append([]Condition(nil), c.Spec.Conditions...)}
}

// Verdict is whether a gate is open.
type Verdict struct {
	Open bool // whether to go on
	// Reason is a word for machines, or "" if the gate is open.
	Reason string
	// Message says why the gate is shut and what opens it, or why it is open
	// although someone would shut it.
	Message string
}

// Upgradeable decides whether the operator that the object belongs to may be
// replaced:
//
//  1. Without an object it may: the operator makes no use of conditions.
//  2. An override of Upgradeable decides: true opens, false shuts; one that is
//     unknown is passed over.
//  3. Otherwise a condition in the status that was judged by another generation
//     of the object than the present one shuts.
//  4. Otherwise false shuts. True, unknown and absent open.
func Upgradeable(c *OperatorCondition) Verdict {
	if c == nil {
		return Verdict{Open: true}
	}
	reported := fairlead.FindCondition(c.Status.Conditions, UpgradeableCondition)
	if o := fairlead.FindCondition(c.Spec.Overrides, UpgradeableCondition); o != nil {
		switch o.Status {
		case fairlead.ConditionTrue:
			return Verdict{Open: true, Message: overruled(reported, o)}
		case fairlead.ConditionFalse:
			return shut(c, "an administrator forbids it%s; remove the override of Upgradeable from spec.overrides", told(o))
		}
	}
	switch {
	case reported == nil:
		return Verdict{Open: true}
	case reported.ObservedGeneration != c.Generation:
		return shut(c, "its condition Upgradeable is outdated: it was judged by generation %d, the object is at %d; the operator has to report again, or override it in spec.overrides",
			reported.ObservedGeneration, c.Generation)
	case reported.Status == fairlead.ConditionFalse:
		return shut(c, "the operator is not ready for it%s; wait for it, or override Upgradeable in spec.overrides", told(reported))
	}
	return Verdict{Open: true}
}

func shut(c *OperatorCondition, format string, args ...any) Verdict {
	return Verdict{
		Reason:  ReasonNotUpgradeable,
		Message: fmt.Sprintf("operator condition %s: the operator may not be replaced: ", c.ObjectMeta) + fmt.Sprintf(format, args...),
	}
}

func overruled(reported, o *Condition) string {
	if reported == nil || reported.Status != fairlead.ConditionFalse {
		return ""
	}
	return "an administrator overrides that the operator is not ready" + told(reported) + told(o)
}

// told returns reason and message of a condition in brackets.
func told(c *Condition) string {
	switch {
	case c.Reason == "" && c.Message == "":
		return ""
	case c.Reason == "":
		return " (" + c.Message + ")"
	case c.Message == "":
		return " (" + c.Reason + ")"
	}
	return fmt.Sprintf(" (%s: %s)", c.Reason, c.Message)
}
