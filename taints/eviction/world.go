package eviction

import (
	"time"

	"github.com/fairlead/fairlead"
)

// World is what [Step] looks at: a node and the pods on it. Step does not
// change it.
type World struct {
	// Name is the node's.
	Name string `json:"name"`
	// Node is the node; nil when there is none of the name.
	Node *fairlead.Node `json:"node,omitempty"`
	// Pods are those bound to the node, in any order. Others that are among them,
	// and such as are listed twice, do no harm.
	Pods []fairlead.Pod `json:"pods,omitempty"`
	// Budgets are those that guard the pods. They are needed with
	// Policy.RespectBudgets alone.
	Budgets []fairlead.PodDisruptionBudget `json:"budgets,omitempty"`
	// LeaseRenewed is when the node renewed its lease, in the node's time; zero if
	// it has none. It is needed with Policy.NodeLifecycle alone.
	LeaseRenewed time.Time `json:"leaseRenewed,omitzero"`

	// Heard is when the last report of the node was seen first, in the observer's
	// time. Zero means now. A [Runner] fills it in.
	Heard time.Time `json:"heard,omitzero"`
	// Zones is what was decided for all zones. A Runner fills it in.
	Zones Disruption `json:"zones,omitzero"`
	// Outcomes are the results of the last attempts at actions. A Runner fills
	// them in.
	Outcomes []fairlead.Outcome `json:"outcomes,omitempty"`
}

// Heartbeat returns when the node has reported last, in the node's time: by its
// lease or by its condition Ready. It is zero when nothing tells. A backend asks
// it whether a node has reported since [SetConditions] was decided.
func (w *World) Heartbeat() time.Time {
	last := w.LeaseRenewed
	if w.Node == nil {
		return last
	}
	if c := w.ready(); c != nil && c.LastHeartbeatTime.After(last) {
		last = c.LastHeartbeatTime
	}
	return last
}

func (w *World) ready() *fairlead.NodeCondition { return w.Node.Condition(nodeReady) }

const nodeReady = "Ready"

// Disruption is what [ZoneStep] has decided that each node must know.
type Disruption struct {
	// Disrupted says that no node of any zone is ready. Then it is the control
	// plane that has lost the nodes, and no pod is evicted for that.
	Disrupted bool `json:"disrupted,omitempty"`
	// Since is when that changed last: no node counts as silent for longer than
	// since then.
	Since time.Time `json:"since,omitzero"`
}
