package eviction

import (
	"time"

	"github.com/fairlead/fairlead"
)

// World is what [Step] reads: a node and the pods on it. Step does not change it.
type World struct {
	// Name is the node's.
	Name string `json:"name"`
	// Node is the node; nil if there is none of that name.
	Node *fairlead.Node `json:"node,omitempty"`
	// Pods are those bound to the node, in any order. Other pods among them and
	// duplicates do no harm.
	Pods []fairlead.Pod `json:"pods,omitempty"`
	// Budgets are those that guard the pods. They are needed only with
	// Policy.RespectBudgets.
	Budgets []fairlead.PodDisruptionBudget `json:"budgets,omitempty"`
	// LeaseRenewed is when the node renewed its lease, by the node's clock; zero
	// if it has none. It is needed only with Policy.NodeLifecycle.
	LeaseRenewed time.Time `json:"leaseRenewed,omitzero"`

	// Heard is when the last report of the node was first seen, by the observer's
	// clock. Zero means now. A [Runner] fills it in.
	Heard time.Time `json:"heard,omitzero"`
	// Zones is what was decided for all zones. A Runner fills it in.
	Zones Disruption `json:"zones,omitzero"`
	// Outcomes are the results of the last attempts at actions. A Runner fills
	// them in.
	Outcomes []fairlead.Outcome `json:"outcomes,omitempty"`
}

// Heartbeat returns when the node last reported, by the node's clock: by its lease
// or its condition Ready. It is zero if neither says. A backend uses it to find
// out whether a node has reported since [SetConditions] was decided.
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

// Disruption is what each node must know about the decisions of [ZoneStep].
type Disruption struct {
	// Disrupted says that no node of any zone is ready. Then the control plane has
	// lost the nodes, and no pod is evicted because of that.
	Disrupted bool `json:"disrupted,omitempty"`
	// Since is when that last changed: no node counts as silent since an earlier
	// time.
	Since time.Time `json:"since,omitzero"`
}
