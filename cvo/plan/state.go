package plan

import (
	"fmt"

	"github.com/fairlead/fairlead"
)

// StateVersion is the version of the format of State.
const StateVersion = 1

// State is what the engine remembers: the plan that it follows, without its proof.
// The zero State is that of a new cluster.
type State struct {
	fairlead.Pending // waits with their start, and actions whose effect is not yet visible
	// Steps are the rest of the plan, the next one first.
	Steps []PlanStep `json:"steps,omitempty"`
	// Goal is what they lead to; for another goal a new plan is made.
	Goal Goal `json:"goal,omitzero"`
	// Replans is how often a new plan was made because the cluster did not allow the
	// previous one.
	Replans int `json:"replans,omitempty"`
}

// Kinds returns one action of each kind.
func (State) Kinds() []Action {
	return []Action{SetRelease{}, SetPaused{}, Acknowledged{}, Approve{}, DrainNode{}}
}

// upgradeState refuses older forms, of which there are none.
func upgradeState(version int, _ []byte) (State, error) {
	return State{}, fmt.Errorf("there is no form of version %d", version)
}

// World is what is observed of a cluster, and the request.
type World struct {
	Situation Situation `json:"situation"` // the cluster
	Goal      Goal      `json:"goal"`      // the requested result
	Paused    bool      `json:"paused"`    // nothing more is started; what was started continues by itself
	// Outcomes are the results of actions that this process has applied. A
	// Runner fills them in.
	Outcomes []fairlead.Outcome `json:"outcomes,omitempty"`
}

// Decision is what [Step] returns. Blocked says what the plan waits for.
type Decision = fairlead.Decision[State, Action]

// Reasons of Blocks.
const (
	ReasonPaused   = "Paused"       // the plan is paused
	ReasonNoPlan   = "NoPlan"       // no plan leads to the goal
	ReasonNotMade  = "NotPlanned"   // the plan could not be made: a limit was reached, or the question is invalid
	ReasonWindow   = "OutOfWindow"  // the next step waits for a window
	ReasonUnseen   = "NotSeen"      // the next step depends on something that was not observed
	ReasonUnderWay = "UnderWay"     // others are carrying out the step
	ReasonPeople   = "WaitsForWork" // people must take the step
)

// Action is something to do, one of
//
//   - [SetRelease], which requests a release for the cluster;
//   - [SetPaused], which pauses or unpauses a pool;
//   - [Acknowledged], which acknowledges a gate;
//   - [Approve], which approves the install plan of an operator's next version;
//   - [DrainNode], which requests that a node be taken out of service.
//
// They only make requests; other engines do the work. Each may be applied
// again.
type Action interface {
	fairlead.Action

	action()
}

// SetRelease sets spec.desiredUpdate.version of the ClusterVersion.
type SetRelease struct {
	Release string `json:"release"` // the version
}

// SetPaused sets spec.paused of a pool.
type SetPaused struct {
	Pool   string `json:"pool"`   // its name
	Paused bool   `json:"paused"` // to what
}

// Acknowledged sets a gate to "true" in the ConfigMap openshift-config/admin-acks.
type Acknowledged struct {
	Gate string `json:"gate"` // its name
}

// Approve sets spec.approved of the install plan that installs a CSV.
type Approve struct {
	Namespace string `json:"namespace"` // of the subscription
	Package   string `json:"package"`   // of the operator
	CSV       string `json:"csv"`       // the version to be installed, by its name
}

// DrainNode creates a request for the node, of package lifecycle/drain or of your
// own, which is kept until somebody withdraws it.
type DrainNode struct {
	Node string `json:"node"` // its name
}

func (SetRelease) action()   {}
func (SetPaused) action()    {}
func (Acknowledged) action() {}
func (Approve) action()      {}
func (DrainNode) action()    {}

// Key names the release.
func (a SetRelease) Key() fairlead.Key { return fairlead.Key{Kind: "SetRelease", ID: a.Release} }

// Key names the pool and what it is set to.
func (a SetPaused) Key() fairlead.Key {
	return fairlead.Key{Kind: "SetPaused", ID: fmt.Sprint(a.Pool, " ", a.Paused)}
}

// Key names the gate.
func (a Acknowledged) Key() fairlead.Key { return fairlead.Key{Kind: "Acknowledged", ID: a.Gate} }

// Key names the operator and its version.
func (a Approve) Key() fairlead.Key {
	return fairlead.Key{Kind: "Approve", ID: a.Namespace + "/" + a.Package + " " + a.CSV}
}

// Key names the node.
func (a DrainNode) Key() fairlead.Key { return fairlead.Key{Kind: "DrainNode", ID: a.Node} }

// String describes the action.
func (a SetRelease) String() string { return "request release " + a.Release }

// String says what is done.
func (a SetPaused) String() string {
	if a.Paused {
		return "pause the pool " + a.Pool
	}
	return "unpause the pool " + a.Pool
}

// String says what is done.
func (a Acknowledged) String() string { return "acknowledge " + a.Gate }

// String says what is done.
func (a Approve) String() string { return "approve " + a.CSV + " of the operator " + a.Package }

// String says what is done.
func (a DrainNode) String() string { return "request a drain of node " + a.Node }
