package drain

import "github.com/fairlead/fairlead/internal/object"

// The shapes that the engines share, under the names of the API.
type (
	// ObjectMeta is the part of an object's metadata that the engine reads.
	ObjectMeta = object.ObjectMeta
	// OwnerReference names an object that another one belongs to.
	OwnerReference = object.OwnerReference
	// Node is a machine that pods run on, as the cluster sees it.
	Node = object.Node
	// Pod is what runs on a node.
	Pod = object.Pod
	// Volume is storage that a pod mounts.
	Volume = object.Volume
	// PodDisruptionBudget bounds how many pods of a set may be down because
	// somebody evicted them.
	PodDisruptionBudget = object.PodDisruptionBudget
	// IntOrString is a count or a percentage.
	IntOrString = object.IntOrString
	// LabelSelector picks objects by their labels.
	LabelSelector = object.LabelSelector
)
