package drain

import "github.com/fairlead/fairlead"

// Report writes how a request stands.
type Report struct {
	Request string `json:"request"` // its name
	UID     string `json:"uid"`     // the request is another one without it
	Status  Status `json:"status"`  // how it stands
}

// TaintOutOfService taints a node node.kubernetes.io/out-of-service with the
// effect NoExecute: the cluster then deletes its pods by force and detaches their
// volumes. It is decided on for a node that is fenced, and no other.
type TaintOutOfService struct {
	Node string `json:"node"` // its name
	UID  string `json:"uid"`  // the node is another one without it
}

// UntaintOutOfService removes that taint.
type UntaintOutOfService struct {
	Node string `json:"node"` // its name
	UID  string `json:"uid"`  // the node is another one without it
}

// OutOfServiceTaint is the key of the taint of nodes that are known not to run.
const OutOfServiceTaint = "node.kubernetes.io/out-of-service"

// Key implements fairlead.Action. What is to be written is part of it, so that
// news do not wait for the repetition of what was written last.
func (a Report) Key() fairlead.Key {
	return fairlead.Key{Kind: "Report", ID: a.UID + "/" + string(a.Status.Phase) + "/" + a.Status.Reason}
}

// Key implements fairlead.Action.
func (a TaintOutOfService) Key() fairlead.Key {
	return fairlead.Key{Kind: "TaintOutOfService", ID: a.UID}
}

// Key implements fairlead.Action.
func (a UntaintOutOfService) Key() fairlead.Key {
	return fairlead.Key{Kind: "UntaintOutOfService", ID: a.UID}
}

// String says what is reported.
func (a Report) String() string {
	text := "report of request " + a.Request + ": " + string(a.Status.Phase)
	if a.Status.Reason != "" {
		text += " " + a.Status.Reason
	}
	return text
}

// String describes the action.
func (a TaintOutOfService) String() string { return "taint node " + a.Node + " out-of-service" }

// String says what is done.
func (a UntaintOutOfService) String() string {
	return "take the taint out-of-service from node " + a.Node
}

func (Report) drains()              {}
func (TaintOutOfService) drains()   {}
func (UntaintOutOfService) drains() {}

// Kinds returns one action of each kind: how a Decision is read from JSON.
func (State) Kinds() []Action {
	return []Action{Cordon{}, Uncordon{}, Evict{}, DeletePod{}, Report{}, TaintOutOfService{}, UntaintOutOfService{}}
}
