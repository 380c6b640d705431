// Package taints decides which pod may be placed on a node, and which must leave
// it, by the node's taints and the pod's tolerations.
//
// A [Taint] keeps pods off a node unless one of their tolerations matches it.
// What a taint does to a pod that does not tolerate it depends on its effect:
//
//	NoSchedule        the pod is not placed there; if it runs there, it stays
//	PreferNoSchedule  the pod is placed there only if no other node will do
//	NoExecute         the pod is not placed there; if it runs there, it is evicted
//
// # Matching
//
// Method Tolerates of [Toleration] is the rule for one toleration and one taint:
//
//  1. An effect in the toleration must be the taint's; none matches any.
//  2. A key in the toleration must be the taint's; none matches any.
//  3. Equal, which is also meant where there is no operator, wants the same
//     value. Exists matches every value. Lt and Gt want the taint's value to be a
//     smaller or greater whole number, if [Options].ComparisonOperators is set.
//
// A taint is tolerated if any toleration matches it. [FirstUntolerated] is what
// a scheduler asks about a node, and [Judge] says what all its taints mean for a
// pod. A [Matcher] answers that for a fleet in a few nanoseconds. [Explain] says
// why, and what would help; [Lint] finds what is likely not meant.
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
// # Eviction
//
// [EvictAt] says when a pod must leave its node. [Step] decides for a node what
// to do about it, [ZoneStep] for all zones which nodes are tainted for not being
// ready; a [Runner] drives both, on a [Backend] that you write, or on
// [MemBackend]. [WhatIf] lets time pass for both, and predicts.
//
// What always holds, whatever crashes, comes late or comes twice, and with
// several runners at work:
//
//  1. No pod is evicted before its deadline by the taints that were seen, and
//     none that was seen to have finished or to terminate.
//  2. A pod that is due is evicted once, however often it takes; what keeps it
//     is told by a Block.
//  3. Another pod of the same name has a deadline of its own.
//  4. No more nodes of a zone are tainted for not being ready than its rate
//     allows; none has both of the taints for that.
//  5. When no node of any zone is ready, nobody is evicted for it.
//
// What is seen may be old: a pod that has come to tolerate a taint, or whose node
// has lost it, is still evicted by a decision made just before. A taint that goes
// and comes back while nobody looks is another one only if its timeAdded is.
package taints
