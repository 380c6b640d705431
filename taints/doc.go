// Package taints decides which pod may be placed on a node, and which must leave
// it, by the node's taints and the pod's tolerations.
//
// A [fairlead.Taint] keeps pods off a node unless one of their tolerations matches
// it. What a taint does to a pod that does not tolerate it depends on its effect:
//
//	NoSchedule        the pod is not placed there; if it runs there, it stays
//	PreferNoSchedule  the pod is placed there only if no other node will do
//	NoExecute         the pod is not placed there; if it runs there, it is evicted
//
// # Matching
//
// Method Tolerates of [fairlead.Toleration] is the rule for one toleration and one
// taint:
//
//  1. An effect in the toleration must be the taint's; none matches any.
//  2. A key in the toleration must be the taint's; none matches any.
//  3. Equal, which is also meant where there is no operator, wants the same
//     value. Exists matches every value. Lt and Gt want the taint's value to be a
//     smaller or greater whole number, if [Options].ComparisonOperators is set.
//
// A taint is tolerated if any toleration matches it. [FirstUntolerated] is what
// a scheduler asks about a node, and [Evaluate] says what all its taints mean for a
// pod. [Explain] says why, and what would help; [Lint] finds what is likely not
// meant.
//
// # Where taints and tolerations come from
//
//   - [ParseChange] reads what commands take, and [Edit] changes a node so.
//   - [ConditionTaints] follow a node's conditions, [SyncMachineTaints] a machine's
//     taints.
//   - [DefaultTolerations], [DaemonSetTolerations], [MemoryPressureTolerations] and
//     [Restriction] are what the control plane adds to pods.
//   - [ValidateTaints] and [ValidateTolerations] judge as the API does;
//     [ReadCluster] reads what kubectl prints.
//
// # Below
//
// Package taints/eviction evicts pods when their time is over and taints nodes that
// are not ready; taints/whatif predicts what it would do; taints/fleet answers for
// every pod and every node from a table.
package taints
