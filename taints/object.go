package taints

import "github.com/fairlead/fairlead/internal/object"

// Objects of the API. They are the same types in every engine of this module,
// with the JSON names of the API and the fields that some engine reads, so what
// kubectl prints decodes into them.
type (
	// Pod is what runs on a node, or waits for one.
	Pod = object.Pod
	// PodSpec is what is asked of a pod.
	PodSpec = object.PodSpec
	// PodStatus is what is reported of a pod.
	PodStatus = object.PodStatus
	// Condition is one fact that is reported on a pod.
	Condition = object.Condition
	// Container is one program of a pod.
	Container = object.Container
	// Resources is what a container is promised and what it may use at most.
	Resources = object.Resources
	// PodPhase is how far a pod is.
	PodPhase = object.PodPhase
	// Node is a machine that pods run on.
	Node = object.Node
	// NodeSpec is what is asked of a node.
	NodeSpec = object.NodeSpec
	// NodeStatus is what is reported of a node.
	NodeStatus = object.NodeStatus
	// NodeCondition is one fact about a node.
	NodeCondition = object.NodeCondition
	// ObjectMeta is the name of an object and what else all objects have.
	ObjectMeta = object.ObjectMeta
	// OwnerReference names an object that another one belongs to.
	OwnerReference = object.OwnerReference
	// Taint keeps pods off a node unless they tolerate it.
	Taint = object.Taint
	// TaintEffect is what a taint does to pods that do not tolerate it.
	TaintEffect = object.TaintEffect
	// Toleration lets a pod onto nodes with a taint that it matches.
	Toleration = object.Toleration
	// TolerationOperator is how a toleration compares its value with a taint's.
	TolerationOperator = object.TolerationOperator
)

// The effects of the API. They are case-sensitive.
const (
	NoSchedule       = object.NoSchedule       // no new pods; running ones stay
	PreferNoSchedule = object.PreferNoSchedule // new pods only where nothing else is left
	NoExecute        = object.NoExecute        // no new pods, and running ones are evicted
)

// The operators of the API. They are case-sensitive; an empty one is Equal.
const (
	Equal  = object.TolerationEqual  // the values are the same
	Exists = object.TolerationExists // any value
	Lt     = object.TolerationLt     // the taint's is a smaller whole number
	Gt     = object.TolerationGt     // the taint's is a greater whole number
)
