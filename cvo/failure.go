package cvo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// Effect is what a task's error does to an update.
type Effect string

// The effects, weakest first.
const (
	EffectReport    Effect = "Report"            // it is reported, and the update continues
	EffectNone      Effect = "None"              // it is an ordinary wait
	EffectFailLater Effect = "FailAfterInterval" // it is a wait at first, and a failure after a while
	EffectFail      Effect = "Fail"              // it is a failure
)

// weight orders effects; one that is not known counts as a failure.
func (e Effect) weight() int {
	return slices.Index([]Effect{EffectReport, EffectNone, EffectFailLater, EffectFail}, cmp.Or(e, EffectFail))
}

// TaskError says why a task is not done.
type TaskError struct {
	Reason   string   `json:"reason"`             // a stable word in CamelCase
	Message  string   `json:"message"`            // what and why
	Detail   string   `json:"detail,omitempty"`   // more of it, for explanations
	Name     string   `json:"name,omitempty"`     // of the ClusterOperator or workload
	Names    []string `json:"names,omitempty"`    // of several ClusterOperators with the same problem, sorted
	Effect   Effect   `json:"effect"`             // what it does to the update
	Operator bool     `json:"operator,omitempty"` // it is about a ClusterOperator
	Retry    bool     `json:"retry,omitempty"`    // the next attempt is likely to succeed
}

// Error returns the message.
func (e *TaskError) Error() string { return e.Message }

// Class is a class of errors of the API server.
type Class string

// The classes.
const (
	ClassNotFound     Class = "NotFound"     // the resource or its namespace does not exist
	ClassConflict     Class = "Conflict"     // somebody else has changed it
	ClassDown         Class = "Down"         // the server does not answer
	ClassInternal     Class = "Internal"     // the server failed
	ClassInvalid      Class = "Invalid"      // the server does not accept the resource
	ClassUnauthorized Class = "Unauthorized" // the server does not know these credentials
	ClassForbidden    Class = "Forbidden"    // these credentials lack the permission
	ClassOverloaded   Class = "Overloaded"   // the server asks to retry later
	ClassNoMatch      Class = "NoMatch"      // the server does not know the kind
	ClassOther        Class = "Other"        // anything else
)

// classes give each class the reason of its TaskError and the cause in its
// message.
var classes = map[Class][2]string{
	ClassNotFound:     {"UpdatePayloadResourceNotFound", "resource may have been deleted"},
	ClassConflict:     {"UpdatePayloadResourceConflict", "somebody else changed it at the same time"},
	ClassDown:         {"UpdatePayloadClusterDown", "the API server does not answer"},
	ClassInternal:     {"UpdatePayloadClusterError", "the API server failed"},
	ClassInvalid:      {"UpdatePayloadResourceInvalid", "the API server does not accept it as it is"},
	ClassUnauthorized: {"UpdatePayloadClusterUnauthorized", "the API server does not know these credentials"},
	ClassForbidden:    {"UpdatePayloadResourceForbidden", "these credentials lack the permission"},
	ClassOverloaded:   {"UpdatePayloadClusterOverloaded", "the API server asks to retry later"},
	ClassNoMatch:      {"UpdatePayloadResourceTypeMissing", "the API server does not know this kind"},
	ClassOther:        {"UpdatePayloadFailed", ""},
}

// Refuse returns an error of the API server in the form that backends should
// return from Apply, so that people learn what kind of problem it is: the class
// is its reason.
func Refuse(class Class, err error) *fairlead.RefusedError {
	return &fairlead.RefusedError{Reason: string(class), Message: err.Error()}
}

// synonyms are reasons of the Kubernetes API that mean one of the classes.
var synonyms = map[string]Class{
	"AlreadyExists": ClassConflict, "Timeout": ClassDown, "ServiceUnavailable": ClassDown, "InternalError": ClassInternal,
	"BadRequest": ClassInvalid, "ServerTimeout": ClassOverloaded, "TooManyRequests": ClassOverloaded,
}

// taskFailed returns the error of a task that could not be applied.
func taskFailed(label string, o *fairlead.Outcome) *TaskError {
	class := Class(o.Reason)
	if c, ok := synonyms[o.Reason]; ok {
		class = c
	}
	of, ok := classes[class]
	if !ok {
		of = classes[ClassOther]
	}
	message := "Could not update " + label
	if of[1] != "" {
		message += ": " + of[1]
	}
	return &TaskError{Reason: of[0], Message: message, Detail: o.Message, Effect: EffectFail, Retry: true}
}

// ReasonMultiple is the reason of several errors that are reported as one.
const ReasonMultiple = "MultipleErrors"

// Summarize joins the errors of a pass into one, or nil:
//
//  1. Errors about ClusterOperators with the same reason become one, with the
//     names and the strongest effect, ordered by reason; the others keep their
//     order and come first.
//  2. If several are left, they become one with the reason MultipleErrors,
//     whose message lists them.
func Summarize(errs []*TaskError) *TaskError {
	list := condense(errs)
	if len(list) < 2 {
		if len(list) == 0 {
			return nil
		}
		return list[0]
	}
	out := &TaskError{Reason: ReasonMultiple}
	var messages []string
	for _, e := range list {
		messages = append(messages, e.Message)
		if out.Effect == "" || e.Effect.weight() > out.Effect.weight() {
			out.Effect = e.Effect
		}
		if e.Operator {
			out.Names = append(out.Names, e.names()...)
		}
	}
	slices.Sort(messages)
	messages = slices.Compact(messages)
	slices.Sort(out.Names)
	out.Names = slices.Compact(out.Names)
	out.Message = "Multiple errors are preventing progress:\n* " + strings.Join(messages, "\n* ")
	return out
}

func (e *TaskError) names() []string {
	if len(e.Names) > 0 {
		return e.Names
	}
	return []string{e.Name}
}

// condense joins the errors about ClusterOperators, by reason.
func condense(errs []*TaskError) []*TaskError {
	var list []*TaskError
	for _, kind := range kinds(errs) {
		list = append(list, joined(kind))
	}
	return list
}

// kinds splits errors into those that are reported as one: each that is not
// about a ClusterOperator, then the others by reason.
func kinds(errs []*TaskError) [][]*TaskError {
	var list [][]*TaskError
	byReason := map[string][]*TaskError{}
	for _, e := range errs {
		if e.Operator {
			byReason[e.Reason] = append(byReason[e.Reason], e)
		} else {
			list = append(list, []*TaskError{e})
		}
	}
	for _, r := range slices.Sorted(maps.Keys(byReason)) {
		list = append(list, byReason[r])
	}
	return list
}

// plurals are what reasons about one operator become for several.
var plurals = map[string][2]string{
	ReasonOperatorNotAvailable: {"ClusterOperatorsNotAvailable", "Cluster operators %s are not available"},
	ReasonOperatorDegraded:     {"ClusterOperatorsDegraded", "Cluster operators %s are degraded"},
	ReasonOperatorUpdating:     {"ClusterOperatorsUpdating", "Cluster operators %s are updating versions"},
	ReasonOperatorVersions:     {"ClusterOperatorsNoVersions", "Cluster operators %s do not declare expected versions"},
	ReasonOperatorMissing:      {"ClusterOperatorsNotFound", "Cluster operators %s have not reported"},
}

// joined combines several errors about ClusterOperators with one reason.
func joined(errs []*TaskError) *TaskError {
	if len(errs) == 1 {
		return errs[0]
	}
	out := *errs[0]
	out.Name, out.Detail = "", ""
	for _, e := range errs {
		out.Names = append(out.Names, e.names()...)
		if e.Effect.weight() > out.Effect.weight() {
			out.Effect = e.Effect
		}
		out.Retry = out.Retry && e.Retry
	}
	slices.Sort(out.Names)
	out.Names = slices.Compact(out.Names)
	p, ok := plurals[out.Reason]
	if !ok {
		p = [2]string{out.Reason, "Cluster operators %s: " + out.Reason}
	}
	out.Reason, out.Message = p[0], fmt.Sprintf(p[1], strings.Join(out.Names, ", "))
	return &out
}
