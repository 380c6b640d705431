// Package rollout brings the nodes of MachineConfigPools to new configurations,
// with the engine of cvo/rollout, on the objects and annotations of OpenShift's
// Machine Config Operator (machineconfiguration.openshift.io, read at its commit
// 7ff337a4).
//
// It stands in the place of that operator's node controller and its drain
// controller; do not run them on the same pools. Rendering configurations,
// building images and changing a node are the business of others: the operator's
// other controllers, and its daemon or an agent of yours on each node.
//
// # Nodes
//
// The engine tells a node what it is to run by desiredConfig and desiredImage,
// cordons it, asks for its pods to be moved away by desiredDrain, has it updated by
// state Working, and uncordons it when the node says Done. Each change is made
// at the resourceVersion that it was decided on.
//
// # Draining
//
// A node whose desiredDrain is "drain-..." and not lastAppliedDrain gets a
// DrainRequest of package kube/drain, whose controller must run; lastAppliedDrain
// is written when that request says Drained. The request goes with
// "uncordon-...". It does not matter who has written desiredDrain: the engine, or
// a daemon that does so itself.
//
// # Images
//
// Where there are MachineOSBuilds, the image of a pool is the one that the build
// of its configuration has pushed, and no node is begun before it is there.
package rollout
