package rollout

import (
	"slices"

	"github.com/fairlead/fairlead"
)

// The shapes of the API that pools and nodes are made of.
type (
	// Node is a machine, as the API has it: ObjectMeta (Name, Labels,
	// Annotations, ResourceVersion, CreationTimestamp and others), Spec
	// (Unschedulable, Taints) and Status (Conditions).
	Node = fairlead.Node
	// ObjectMeta is the metadata that all objects have: Name, Labels, Annotations
	// and others.
	ObjectMeta = fairlead.ObjectMeta
	// Condition is one fact that is reported about a pool: Type, Status,
	// LastTransitionTime, Reason and Message.
	Condition = fairlead.Condition
	// LabelSelector picks nodes by MatchLabels and MatchExpressions.
	LabelSelector = fairlead.LabelSelector
	// IntOrString is a number in Int, or a percentage such as "30%" in Text.
	IntOrString = fairlead.IntOrString
)

// Annotations of nodes that report their progress.
const (
	AnnotationCurrent      = "machineconfiguration.openshift.io/currentConfig"    // the configuration that the node runs
	AnnotationDesired      = "machineconfiguration.openshift.io/desiredConfig"    // the one that it should run
	AnnotationCurrentImage = "machineconfiguration.openshift.io/currentImage"     // the image that it runs, if it was given one
	AnnotationDesiredImage = "machineconfiguration.openshift.io/desiredImage"     // the one that it should run
	AnnotationState        = "machineconfiguration.openshift.io/state"            // one of the states below
	AnnotationReason       = "machineconfiguration.openshift.io/reason"           // why it is Degraded or Unreconcilable
	AnnotationDesiredDrain = "machineconfiguration.openshift.io/desiredDrain"     // "drain-" or "uncordon-" and a configuration
	AnnotationLastDrain    = "machineconfiguration.openshift.io/lastAppliedDrain" // the last such request that was fulfilled
)

// The states of nodes, in AnnotationState.
const (
	StateDone           = "Done"           // the node runs its desired configuration
	StateWorking        = "Working"        // it is being updated
	StateDegraded       = "Degraded"       // it could not be updated
	StateUnreconcilable = "Unreconcilable" // it cannot be updated to its desired configuration
)

// LabelZone is the label that says in which zone a node is.
const LabelZone = "topology.kubernetes.io/zone"

// TaintUpdate is the key of the taint, with effect PreferNoSchedule, of nodes that
// wait for an update: new pods prefer other nodes.
const TaintUpdate = "UpdateInProgress"

// PoolArbiter is the name of the pool of arbiters: one at a time is updated,
// whatever its spec says.
const PoolArbiter = "arbiter"

// Pool is a set of nodes that should run one configuration.
type Pool struct {
	ObjectMeta `json:"metadata"` // its name and the other metadata
	Spec       PoolSpec          `json:"spec"`   // the desired state
	Status     PoolStatus        `json:"status"` // the reported state
}

// PoolSpec is the desired state of a pool.
type PoolSpec struct {
	NodeSelector   *LabelSelector `json:"nodeSelector,omitempty"`   // which nodes; nil and empty select none
	MaxUnavailable *IntOrString   `json:"maxUnavailable,omitempty"` // how many may be down; nil means 1
	Paused         bool           `json:"paused,omitempty"`         // no node is started
	Configuration  Configuration  `json:"configuration"`            // what the nodes should run
}

// Configuration is what a node should run.
type Configuration struct {
	Name  string `json:"name"`            // of the rendered configuration
	Image string `json:"image,omitempty"` // of the operating system; empty means that of the configuration
}

// PoolStatus is the reported state of a pool.
type PoolStatus struct {
	MachineCount            int         `json:"machineCount"`            // nodes
	UpdatedMachineCount     int         `json:"updatedMachineCount"`     // those that run the pool's configuration
	ReadyMachineCount       int         `json:"readyMachineCount"`       // those that do, and take pods
	UnavailableMachineCount int         `json:"unavailableMachineCount"` // those that are down, or being updated
	DegradedMachineCount    int         `json:"degradedMachineCount"`    // those that could not be updated
	Conditions              []Condition `json:"conditions,omitempty"`    // Updated, Updating, NodeDegraded, Degraded, in this order

	ObservedGeneration int64         `json:"observedGeneration,omitempty"` // of the pool that this status is for
	Configuration      Configuration `json:"configuration,omitzero"`       // what all nodes ran when they were last all updated
}

// World is what is known about a pool.
type World struct {
	Pool  Pool   // the pool
	Nodes []Node // its nodes, see PrimaryPool; in any order
	// Last is the name of a node that is started last, because whatever drives the
	// rollout runs there; empty for none.
	Last string
	// Build is the build of the image for the pool; nil if there is none. No node
	// starts before there is an image and the pool's configuration names it.
	Build *Build
	// Peers are the nodes of the pool that shares a quorum with this one: the
	// arbiters for the control plane, and the control plane for arbiters. While one
	// of them takes no pods or is being updated, no node starts here. This uses
	// observed states: let one Runner drive both pools.
	Peers []Node
	// PeerPool is the pool of Peers if it must be updated first: the control plane
	// for arbiters. Nil if there is no such order. If it is paused, this pool does
	// not wait for it.
	PeerPool *Pool
	// Pods are those on nodes to be drained, see [Draining], if the engine drains
	// them itself, by the rules of package lifecycle/drain. Leave out nodes that
	// somebody else drains.
	Pods []NodePods
	// Outcomes are the results of actions that this process has applied. A
	// Runner fills them in.
	Outcomes []fairlead.Outcome
}

// peersUnready returns the peers that prevent nodes of this pool from starting, by
// name.
func (w *World) peersUnready() []string {
	var names []string
	for i := range w.Peers {
		n := &w.Peers[i]
		waits := w.PeerPool != nil && !w.PeerPool.Spec.Paused && w.PeerPool.Spec.Configuration.Name != "" && !targets(w.PeerPool, n)
		if Unavailable(n) || waits {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return names
}
