// Package drain takes nodes out of service without killing what runs on them.
//
// [Pods] decides what comes next for the pods of one node. Packages that drain nodes
// for their own reasons call it. [NewPlan] predicts drains with the same code.
//
// [Step] is an engine for requests: whoever needs a node out of service, for
// maintenance, a reboot or removal, creates a [Request] and ends it when the work is
// done. A node may have several requests; it is uncordoned when the last one ends.
// Requests can be paused and resumed. A [Runner] drives Step, on a [Backend] that you
// write.
//
// [Admit] limits how many nodes are out of service at the same time: by number or
// percentage, per pool or zone, in order of priority, and with replacements first
// where that is possible. A [Gate] keeps its slots in a store. World.Slots is its
// result for a node.
//
// A drain cordons the node, evaluates each pod with its [Filter]s, and evicts the
// pods that are due, in the order that [Rule]s give. It does not request an eviction
// that a disruption budget is known to refuse. When the API refuses one, the drain
// retries with exponential backoff and keeps the message. One pod that cannot be
// evicted does not hold up others of the same order. Pods are force-deleted only if
// their instance is known not to run and the policy allows it.
//
// # What you write
//
//	runner, err := drain.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // reconciles each object when it is due
//	runner.Trigger("node-1") // from your watches: something has changed
//	d, err := runner.Reconcile(ctx, "node-1") // or one pass, in a reconciler of your own: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns the node with all of its pods, their budgets, and every
//     request for it, all of the same age.
//  2. Apply refuses an action on a node, a pod or a request with another UID, and
//     evicts through the eviction API, which respects budgets.
//  3. Cordon leaves its mark on the node, and Uncordon only uncordons a node with
//     that mark: a cordon that somebody else set stays.
//  4. Set World.Fenced only on evidence that the machine is off, or cut off from
//     storage and network.
//  5. Trigger the node when a request, the node, its pods or their budgets have
//     changed. A lost trigger only costs some minutes.
package drain
