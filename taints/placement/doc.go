// Package placement decides whether a pod fits on a node, as the filters of
// kube-scheduler 1.36 do: NodeUnschedulable, TaintToleration, NodeAffinity,
// NodePorts, NodeResourcesFit, VolumeRestrictions (ReadWriteOncePod),
// NodeVolumeLimits (CSI), VolumeBinding (bound claims), VolumeZone,
// PodTopologySpread and InterPodAffinity, with their defaults. Room that preemption
// makes for a pod is kept from others of no higher priority.
//
// A [Cluster] holds nodes and the pods on them; pods are added and removed
// during a simulation, and each question is answered for the current state:
//
//	c := placement.New(nil)
//	c.SetNode(node)            // for each node
//	c.Add(pod)                 // for each pod that is bound
//	c.Remove(evicted)
//	why := c.Evaluate(evicted, "node-2") // empty: it fits there
//
// Where answers for all nodes at once. If it fits nowhere, Preempt says which pods of
// lower priority the scheduler would evict for it.
//
// What is known of volumes is in [Storage]; [Cluster.Unknown] names what is not, as the
// devices that a claim requests. It ignores which of the unbound volumes would be bound,
// images, scores, and sizes of running pods that differ from their spec because of a resize. A
// pod's own NodeName is not a requirement: the question is where another pod
// like it could run.
//
// The package depends only on the standard library and the API types.
package placement
