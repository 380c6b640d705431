package eviction

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Intent is what a requester wants.
type Intent string

// The intents.
const (
	IntentEviction  Intent = "Eviction"  // the pod should be evicted
	IntentWithdrawn Intent = "Withdrawn" // the request is withdrawn
)

// Target is what should be evicted.
type Target struct {
	Pod PodReference `json:"pod"` // the pod
}

// PodReference names one pod.
type PodReference struct {
	Name string `json:"name"` // the pod's
	UID  string `json:"uid"`  // distinguishes it from another pod of that name
}

// Request is an EvictionRequest of one requester.
type Request struct {
	fairlead.ObjectMeta `json:"metadata"` // its name and the other metadata
	Spec                RequestSpec       `json:"spec"`            // the desired state
	Status              RequestStatus     `json:"status,omitzero"` // the reported state
}

// RequestSpec is the content of a request.
type RequestSpec struct {
	Target        Target `json:"target"`        // never changes
	RequesterName string `json:"requesterName"` // the requester, as in acme.io/drainer; never changes
	Intent        Intent `json:"intent"`        // its current intent
}

// RequestStatus is the reported state of a request.
type RequestStatus struct {
	Conditions         []fairlead.Condition `json:"conditions,omitempty"`         // Failed and TargetEvicted
	ObservedGeneration int64                `json:"observedGeneration,omitempty"` // of the request
}

// Eviction is the eviction of a pod, for all its requesters.
type Eviction struct {
	fairlead.ObjectMeta `json:"metadata"` // its name and the other metadata
	Spec                EvictionSpec      `json:"spec"`            // the target
	Status              EvictionStatus    `json:"status,omitzero"` // its progress
}

// EvictionSpec is the target of an Eviction.
type EvictionSpec struct {
	Target Target `json:"target"` // never changes
}

// EvictionStatus is the progress of an Eviction.
type EvictionStatus struct {
	Conditions         []fairlead.Condition `json:"conditions,omitempty"`         // Failed and TargetEvicted; final once True
	ObservedGeneration int64                `json:"observedGeneration,omitempty"` // of the Eviction
	Requesters         []Requester          `json:"requesters,omitempty"`         // all, including former ones, in the order of their requests
	TargetResponders   []TargetResponder    `json:"targetResponders,omitempty"`   // in order of turn; the list never changes
	Responders         []ResponderStatus    `json:"responders,omitempty"`         // what they report
}

// Requester is somebody who requested the eviction.
type Requester struct {
	Name   string `json:"name"`   // as its request says
	Intent Intent `json:"intent"` // its current intent
}

// TargetResponder is a responder and whether it is its turn.
type TargetResponder struct {
	Name  string         `json:"name"`  // as in acme.io/operator
	State ResponderState `json:"state"` // set only by the coordinator
}

// ResponderState is whether a responder should act.
type ResponderState string

// The states. A responder goes from Inactive to Active and to one of the others.
const (
	StateInactive    ResponderState = "Inactive"    // not yet
	StateActive      ResponderState = "Active"      // it is its turn
	StateInterrupted ResponderState = "Interrupted" // it has sent no heartbeat for too long
	StateCanceled    ResponderState = "Canceled"    // nobody requests the eviction any more
	StateCompleted   ResponderState = "Completed"   // it has done its part
)

// ResponderStatus is what a responder reports, except StartTime.
type ResponderStatus struct {
	Name                   string    `json:"name"`                            // the responder's
	StartTime              time.Time `json:"startTime,omitzero"`              // when its turn began; set by the coordinator
	HeartbeatTime          time.Time `json:"heartbeatTime,omitzero"`          // its last heartbeat
	ExpectedCompletionTime time.Time `json:"expectedCompletionTime,omitzero"` // when it expects to be done
	CompletionTime         time.Time `json:"completionTime,omitzero"`         // when it was done
	Message                string    `json:"message,omitempty"`               // its progress, for people
}

// Pod is the relevant part of a pod.
type Pod struct {
	fairlead.ObjectMeta `json:"metadata"` // its name and the other metadata
	Spec                PodSpec           `json:"spec"`   // who responds
	Status              PodStatus         `json:"status"` // whether it has ended
}

// PodSpec says who responds to evictions of a pod.
type PodSpec struct {
	EvictionResponders []Responder      `json:"evictionResponders,omitempty"` // in order of turn
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
	Phase string `json:"phase,omitempty"` // Succeeded and Failed mean that it has
}

// The conditions of requests and Evictions.
const (
	ConditionFailed        = "Failed"        // nobody responds any more, and the pod was not evicted
	ConditionTargetEvicted = "TargetEvicted" // the pod has ended or is gone
)

// The reasons of the conditions.
const (
	ReasonAwaitingEviction          = "AwaitingEviction"          // it is in progress
	ReasonEvictionInvalid           = "EvictionInvalid"           // Failed: the pod does not exist, or is not supported
	ReasonCanceledDueToNoRequesters = "CanceledDueToNoRequesters" // Failed: all have withdrawn
	ReasonNoFurtherResponder        = "NoFurtherResponder"        // Failed: the last one is done, and the pod still exists
	ReasonSucceeded                 = "Succeeded"                 // Failed is False: the pod was evicted
	ReasonPodDeleted                = "PodDeleted"                // TargetEvicted: the pod is gone
	ReasonPodTerminal               = "PodTerminal"               // TargetEvicted: the pod has ended
	ReasonEvictionFailed            = "EvictionFailed"            // TargetEvicted is permanently False
)

// Evictor is the responder that comes last, by default: it calls the eviction API.
const Evictor = "imperative-eviction.k8s.io/evictor"

// HeartbeatTimeout is how long a responder may send no heartbeat before the next
// one gets its turn.
const HeartbeatTimeout = 20 * time.Minute
