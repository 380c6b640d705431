package eviction

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Intent is what a requester wants.
type Intent string

// The intents.
const (
	IntentEviction  Intent = "Eviction"  // the pod is to go
	IntentWithdrawn Intent = "Withdrawn" // it need not any more
)

// Target is what is to be evicted.
type Target struct {
	Pod PodReference `json:"pod"` // the pod
}

// PodReference names one pod.
type PodReference struct {
	Name string `json:"name"` // the pod's
	UID  string `json:"uid"`  // another pod of that name is not meant
}

// Request is an EvictionRequest: one requester's wish.
type Request struct {
	fairlead.ObjectMeta `json:"metadata"` // its name and what else all objects have
	Spec                RequestSpec       `json:"spec"`            // what is asked
	Status              RequestStatus     `json:"status,omitzero"` // how it stands
}

// RequestSpec is what is asked.
type RequestSpec struct {
	Target        Target `json:"target"`        // never changes
	RequesterName string `json:"requesterName"` // who asks, as in acme.io/drainer; never changes
	Intent        Intent `json:"intent"`        // what it wants now
}

// RequestStatus is how a request stands.
type RequestStatus struct {
	Conditions         []fairlead.Condition `json:"conditions,omitempty"`         // Failed and TargetEvicted
	ObservedGeneration int64                `json:"observedGeneration,omitempty"` // of the request
}

// Eviction is how a pod is evicted, for all its requesters.
type Eviction struct {
	fairlead.ObjectMeta `json:"metadata"` // its name and what else all objects have
	Spec                EvictionSpec      `json:"spec"`            // whom it is about
	Status              EvictionStatus    `json:"status,omitzero"` // how far it is
}

// EvictionSpec is whom an Eviction is about.
type EvictionSpec struct {
	Target Target `json:"target"` // never changes
}

// EvictionStatus is how far an Eviction is.
type EvictionStatus struct {
	Conditions         []fairlead.Condition `json:"conditions,omitempty"`         // Failed and TargetEvicted; final once True
	ObservedGeneration int64                `json:"observedGeneration,omitempty"` // of the Eviction
	Requesters         []Requester          `json:"requesters,omitempty"`         // all that there ever were, in the order of their requests
	TargetResponders   []TargetResponder    `json:"targetResponders,omitempty"`   // in the order of turn; never more or fewer
	Responders         []ResponderStatus    `json:"responders,omitempty"`         // what they say of themselves
}

// Requester is somebody who wanted the pod to go.
type Requester struct {
	Name   string `json:"name"`   // as its request says
	Intent Intent `json:"intent"` // what it wants now
}

// TargetResponder is somebody whose turn it is, was or will be.
type TargetResponder struct {
	Name  string         `json:"name"`  // as in acme.io/operator
	State ResponderState `json:"state"` // set by the coordinator alone
}

// ResponderState is whether a responder is to act.
type ResponderState string

// The states. A responder goes from Inactive to Active and to one of the others.
const (
	StateInactive    ResponderState = "Inactive"    // not yet
	StateActive      ResponderState = "Active"      // it is its turn
	StateInterrupted ResponderState = "Interrupted" // it has shown no heartbeat for too long
	StateCanceled    ResponderState = "Canceled"    // nobody wants the pod to go any more
	StateCompleted   ResponderState = "Completed"   // it has done its part
)

// ResponderStatus is what a responder says of itself, but for StartTime.
type ResponderStatus struct {
	Name                   string    `json:"name"`                            // the responder's
	StartTime              time.Time `json:"startTime,omitzero"`              // when its turn began; set by the coordinator
	HeartbeatTime          time.Time `json:"heartbeatTime,omitzero"`          // when it last said that it works
	ExpectedCompletionTime time.Time `json:"expectedCompletionTime,omitzero"` // when it expects to be done
	CompletionTime         time.Time `json:"completionTime,omitzero"`         // when it was done
	Message                string    `json:"message,omitempty"`               // how it goes, for people
}

// Pod is what counts of a pod.
type Pod struct {
	fairlead.ObjectMeta `json:"metadata"` // its name and what else all objects have
	Spec                PodSpec           `json:"spec"`   // who responds
	Status              PodStatus         `json:"status"` // whether it has ended
}

// PodSpec says who responds to evictions of a pod.
type PodSpec struct {
	EvictionResponders []Responder      `json:"evictionResponders,omitempty"` // in the order of turn
	SchedulingGroup    *SchedulingGroup `json:"schedulingGroup,omitempty"`    // such pods are not supported yet
}

// Responder names somebody who responds.
type Responder struct {
	Name string `json:"name"` // as in acme.io/operator
}

// SchedulingGroup is what a pod is scheduled together with.
type SchedulingGroup struct {
	PodGroupName string `json:"podGroupName,omitempty"` // the group's
}

// PodStatus is whether a pod has ended.
type PodStatus struct {
	Phase string `json:"phase,omitempty"` // Succeeded and Failed have
}

// The conditions of requests and Evictions.
const (
	ConditionFailed        = "Failed"        // nobody responds any more, and the pod was not evicted
	ConditionTargetEvicted = "TargetEvicted" // the pod has ended or is gone
)

// The reasons of the conditions.
const (
	ReasonAwaitingEviction          = "AwaitingEviction"          // it goes on
	ReasonEvictionInvalid           = "EvictionInvalid"           // Failed: the pod is not there, or not supported
	ReasonCanceledDueToNoRequesters = "CanceledDueToNoRequesters" // Failed: all have withdrawn
	ReasonNoFurtherResponder        = "NoFurtherResponder"        // Failed: the last one is through, and the pod is there
	ReasonSucceeded                 = "Succeeded"                 // Failed is False: the pod was evicted
	ReasonPodDeleted                = "PodDeleted"                // TargetEvicted: the pod is gone
	ReasonPodTerminal               = "PodTerminal"               // TargetEvicted: the pod has ended
	ReasonEvictionFailed            = "EvictionFailed"            // TargetEvicted is False for good
)

// Evictor is the responder that comes last, by default: it calls the eviction API.
const Evictor = "imperative-eviction.k8s.io/evictor"

// HeartbeatTimeout is after how long without a heartbeat the next responder
// gets its turn.
const HeartbeatTimeout = 20 * time.Minute
