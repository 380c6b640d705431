package drain

import "github.com/fairlead/fairlead"

// Report writes the status of a request.
type Report struct {
	Request string `json:"request"` // its name
	UID     string `json:"uid"`     // of the request
	Status  Status `json:"status"`  // the new status
}

// TaintOutOfService taints a node node.kubernetes.io/out-of-service with the
// effect NoExecute: the cluster then force-deletes its pods and detaches their
// volumes. It is decided on only for a fenced node.
type TaintOutOfService struct {
	Node string `json:"node"` // its name
	UID  string `json:"uid"`  // of the node
}

// UntaintOutOfService removes that taint.
type UntaintOutOfService struct {
	Node string `json:"node"` // its name
	UID  string `json:"uid"`  // of the node
}

// OutOfServiceTaint is the key of the taint of nodes that are known not to run.
const OutOfServiceTaint = "node.kubernetes.io/out-of-service"

// Key implements fairlead.Action. It includes the new status, so that a new one
// does not wait for the retry of the last.
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
	return "remove the taint out-of-service from node " + a.Node
}

func (Report) drains()              {}
func (TaintOutOfService) drains()   {}
func (UntaintOutOfService) drains() {}

// Kinds returns one action of each kind, for reading a Decision from JSON.
func (State) Kinds() []Action {
	return []Action{Cordon{}, Uncordon{}, Evict{}, DeletePod{}, Report{}, TaintOutOfService{}, UntaintOutOfService{}}
}
