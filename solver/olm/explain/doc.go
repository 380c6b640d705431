// Package explain says why an operator is not installed, not updated or not
// removed in a cluster that runs the Operator Lifecycle Manager, from what a
// dump of the cluster holds.
//
// [Cluster] is what is known. Its methods give a [View] of one object, or of all
// operators, the blocked first. A view has [Wait]s in the order in which OLM
// meets them: what it waits for, who can end that, since when, and the command
// that helps. The rules are those of OLM v0.46 and operator-controller 1.10, not
// those of package install, which decides better in places: where OLM would do
// what a user does not want, the wait says what it will do.
//
// What is absent from a dump is unknown, unless the dump has other objects of the
// kind, or [Cluster.Kinds] says that it was looked at. Nothing here reads a clock
// or a cluster.
package explain
