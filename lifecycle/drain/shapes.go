package drain

import "github.com/fairlead/fairlead"

// The shapes that the engines share, under the names of the API.
type (
	// ObjectMeta is the part of an object's metadata that the engine reads.
	ObjectMeta = fairlead.ObjectMeta
	// OwnerReference names an object that another one belongs to.
	OwnerReference = fairlead.OwnerReference
	// Node is a machine that pods run on, as the cluster sees it.
	Node = fairlead.Node
	// Pod is what runs on a node.
	Pod = fairlead.Pod
	// Volume is storage that a pod mounts.
	Volume = fairlead.Volume
	// PodDisruptionBudget limits how many pods of a set may be down because
	// of evictions.
	PodDisruptionBudget = fairlead.PodDisruptionBudget
	// IntOrString is a count or a percentage.
	IntOrString = fairlead.IntOrString
	// LabelSelector selects objects by their labels.
	LabelSelector = fairlead.LabelSelector
)
