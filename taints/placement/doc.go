// Package placement decides whether a pod fits on a node, as the filters of
// kube-scheduler 1.36 do: NodeUnschedulable, TaintToleration, NodeAffinity,
// NodePorts, NodeResourcesFit, PodTopologySpread and InterPodAffinity, with
// their defaults.
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
// If it fits nowhere, Preempt says which pods of lower priority the scheduler would
// evict for it.
//
// It ignores volumes, devices that a claim requests, images, scores, and
// sizes of running pods that differ from their spec because of a resize. A
// pod's own NodeName is not a requirement: the question is where another pod
// like it could run.
//
// The package depends only on the standard library and the API types.
package placement
