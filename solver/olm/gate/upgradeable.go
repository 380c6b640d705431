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

// OperatorCondition is what an operator reports about itself. Its name and
// namespace are those of the operator's CSV.
type OperatorCondition struct {
	ObjectMeta `json:"metadata"`
	Spec       OperatorConditionSpec   `json:"spec"`   // what the operator and administrators write
	Status     OperatorConditionStatus `json:"status"` // the conditions that count
}

// OperatorConditionSpec is what the operator and administrators write.
type OperatorConditionSpec struct {
	Conditions []Condition `json:"conditions,omitempty"` // by the operator
	Overrides  []Condition `json:"overrides,omitempty"`  // by an administrator; they take precedence
}

// OperatorConditionStatus contains the conditions of the spec once they have been
// observed; see Observe.
type OperatorConditionStatus struct {
	Conditions []Condition `json:"conditions,omitempty"` // those of the spec
}

// Observe returns the status that the object must have: the conditions of its
// spec, as written.
func (c *OperatorCondition) Observe() OperatorConditionStatus {
	return OperatorConditionStatus{Conditions: append([]Condition(nil), c.Spec.Conditions...)}
}

// Verdict is whether a gate is open.
type Verdict struct {
	Open bool // whether to proceed
	// Reason is a word for programs, or "" if the gate is open.
	Reason string
	// Message says why the gate is shut and what opens it, or why it is open
	// although the operator reports that it is not ready.
	Message string
}

// Upgradeable decides whether the operator that the object belongs to may be
// replaced:
//
//  1. Without an object it may: the operator does not use conditions.
//  2. An override of Upgradeable decides: true opens the gate, false shuts it; an
//     unknown one is ignored.
//  3. Otherwise a condition in the status shuts the gate if it was observed for
//     another generation of the object than the current one.
//  4. Otherwise false shuts the gate; true, unknown and absent open it.
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

// told returns reason and message of a condition in parentheses.
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
