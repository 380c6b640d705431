// Package placement judges whether a pod fits on a node, as the filters of
// kube-scheduler 1.36 do: NodeUnschedulable, TaintToleration, NodeAffinity,
// NodePorts, NodeResourcesFit, PodTopologySpread and InterPodAffinity, with
// their defaults.
//
// A [Cluster] holds nodes and the pods on them; pods are added and taken away
// as a story goes on, and each question is answered for what is there now:
//
//	c := placement.New(nil)
//	c.SetNode(node)            // for each node
//	c.Add(pod)                 // for each pod that is bound
//	c.Remove(evicted)
//	why := c.Evaluate(evicted, "node-2") // empty: it fits there
//
// What is not looked at: volumes, devices that a claim asks for, images,
// preferences, and sizes of running pods that differ from their spec because
// of a resize. A pod's own NodeName is no demand: the question is where
// another pod like it could be.
//
// The package knows the standard library and the shapes of objects only.
package placement
