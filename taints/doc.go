// Package taints decides which pods may be placed on a node, and which must leave it,
// from the node's taints and the pods' tolerations.
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
// Method Tolerates of [fairlead.Toleration] decides whether a toleration matches a
// taint:
//
//  1. The toleration's effect must equal the taint's; an empty effect matches any.
//  2. The toleration's key must equal the taint's; an empty key matches any.
//  3. Equal, the default operator, requires the same value. Exists matches every
//     value. Lt and Gt require the taint's value to be a smaller or greater whole
//     number, if [Options].ComparisonOperators is set.
//
// A taint is tolerated if any toleration matches it. [FirstUntolerated] answers what
// a scheduler asks about a node, and [Evaluate] what all taints of a node mean for a
// pod. [Explain] says why, and what would help. [Lint] finds taints and tolerations
// that are probably mistakes.
//
// # Where taints and tolerations come from
//
//   - [ParseChange] parses the arguments of commands, and [Edit] changes a node
//     accordingly.
//   - [ConditionTaints] derives taints from a node's conditions, and
//     [SyncMachineTaints] from a machine's taints.
//   - [DefaultTolerations], [DaemonSetTolerations] and [Restriction] are what the control plane adds to pods.
//   - [ValidateTaints] and [ValidateTolerations] validate as the API does;
//     [ReadCluster] reads the output of kubectl.
//
// # Packages below
//
// Package taints/eviction evicts pods when their tolerations expire and taints nodes
// that are not ready. Package taints/whatif predicts what it would do. Package
// taints/fleet answers for every pod and every node, from a table.
package taints
