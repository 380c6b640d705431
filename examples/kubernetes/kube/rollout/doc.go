// Package rollout brings the nodes of MachineConfigPools to new configurations,
// with the engine of cvo/rollout, on the objects and annotations of OpenShift's
// Machine Config Operator (machineconfiguration.openshift.io, read at its commit
// 7ff337a4).
//
// It replaces that operator's node controller and drain controller; do not run them
// on the same pools. Others render configurations, build images and change nodes:
// the operator's other controllers, and its daemon or your own agent on each node.
//
// # Nodes
//
// The engine tells a node what to run (desiredConfig and desiredImage), cordons it,
// has its pods evicted (desiredDrain), has it updated (state Working), and uncordons
// it when the node reports Done. Each change is made at the resourceVersion on which
// its decision was based.
//
// # Draining
//
// A node whose desiredDrain is "drain-..." and differs from lastAppliedDrain gets a
// DrainRequest of package kube/drain, whose controller must run; lastAppliedDrain is
// written when that request is Drained. "uncordon-..." deletes the request. It does
// not matter whether desiredDrain was written by the engine, or by a daemon on its
// own initiative.
//
// # Images
//
// If there are MachineOSBuilds, the image of a pool is the one that the build of its
// configuration has pushed, and no node is updated before that image exists.
package rollout
