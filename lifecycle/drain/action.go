package drain

import "github.com/fairlead/fairlead"

// Action is something to do, one of
//
//   - [Cordon], which keeps new pods off the node, and [Uncordon], which ends that;
//   - [Evict] and [DeletePod], which remove a pod;
//   - [Report], which writes the status of a request;
//   - [TaintOutOfService] and [UntaintOutOfService], for a node that is fenced.
//
// Each may be applied again, and each names what it was decided on: a backend that
// finds another object there, by UID, returns an error and changes nothing.
type Action interface {
	fairlead.Action
	drains()
}

// Cordon marks a node as unschedulable, and records whose mark that is. A backend
// does both in one write, on the precondition that the node is schedulable (by its
// resourceVersion, or a test of spec.unschedulable in a JSON patch); otherwise it
// does nothing. So if somebody else cordoned the node first, their cordon is not
// mistaken for the drain's own.
type Cordon struct {
	Node string `json:"node"` // its name
	UID  string `json:"uid"`  // of the node
	// Mark is the value for the annotation [CordonAnnotation].
	Mark string `json:"mark,omitempty"`
}

// CordonAnnotation is the annotation of a node by which a drain recognizes its own
// cordon.
const CordonAnnotation = "fairlead.io/cordon"

// Uncordon allows new pods on a node again, and removes [CordonAnnotation].
type Uncordon struct {
	Node string `json:"node"` // its name
	UID  string `json:"uid"`  // of the node
}

// Evict requests the eviction of a pod, which its disruption budgets may refuse.
type Evict struct {
	Namespace string `json:"namespace"`      // the pod's
	Name      string `json:"name"`           // the pod's
	UID       string `json:"uid"`            // the pod's
	Node      string `json:"node,omitempty"` // where the pod is
	// GracePeriodSeconds is how long it may take to end; nil means its own grace
	// period.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
}

// DeletePod deletes a pod regardless of its disruption budgets.
type DeletePod struct {
	Namespace string `json:"namespace"`      // the pod's
	Name      string `json:"name"`           // the pod's
	UID       string `json:"uid"`            // the pod's
	Node      string `json:"node,omitempty"` // where the pod is
	// GracePeriodSeconds is how long it may take to end; nil means its own grace
	// period.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	Why                string `json:"why,omitempty"` // why its budgets are ignored
}

// Key implements fairlead.Action.
func (a Cordon) Key() fairlead.Key { return fairlead.Key{Kind: "Cordon", ID: a.UID} }

// Key implements fairlead.Action.
func (a Uncordon) Key() fairlead.Key { return fairlead.Key{Kind: "Uncordon", ID: a.UID} }

// Key implements fairlead.Action.
func (a Evict) Key() fairlead.Key { return fairlead.Key{Kind: kindEvict, ID: a.UID} }

// Key implements fairlead.Action.
func (a DeletePod) Key() fairlead.Key { return fairlead.Key{Kind: kindDeletePod, ID: a.UID} }

// The kinds of keys that drains look up.
const (
	kindEvict     = "Evict"
	kindDeletePod = "DeletePod"
)

// String describes the action.
func (a Cordon) String() string { return "cordon node " + a.Node }

// String says what is done.
func (a Uncordon) String() string { return "uncordon node " + a.Node }

// String says what is done.
func (a Evict) String() string { return "evict pod " + a.Namespace + "/" + a.Name }

// String says what is done, and why.
func (a DeletePod) String() string {
	return "delete pod " + a.Namespace + "/" + a.Name + ": " + a.Why
}

func (Cordon) drains()    {}
func (Uncordon) drains()  {}
func (Evict) drains()     {}
func (DeletePod) drains() {}
