// Package drain takes nodes out of service without killing what runs on them.
//
// [Pods] decides what comes next about the pods of one node; packages that have
// reasons of their own to empty a node call it. [NewPlan] tells beforehand how
// drains would go, by the same code.
//
// [Step] is an engine of requests: whoever needs a node out of service, for
// maintenance, a reboot or its removal, makes a [Request], and ends it when the
// work is done. There may be several for one node; the last one to end gives the
// node back. A request can be paused and resumed. A [Runner] drives it, on a
// [Backend] that you write.
//
// [Admit] bounds how many nodes are out of service at the same time: by number or
// percentage, of a pool or zone, in order of priority, with replacements first where
// they can come first. A [Gate] keeps its slots in a store. What it says of a node is
// World.Slots.
//
// A drain cordons the node, judges each pod by its [Filter]s, and evicts those on
// turn: by order, where a [Rule] gives one. A disruption budget that is known to
// refuse is not asked; what the API refuses is asked for again after times that
// double, and what it said is kept. One pod that cannot go holds up no other of
// its order. No pod is deleted by force on a guess: only where its instance is
// known not to run, and policy says so.
//
// # What you write
//
//	runner, err := drain.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // makes passes when they are due
//	runner.Trigger("node-1") // something has changed: from your watches
//	d, err := runner.Reconcile(ctx, "node-1") // or one pass, in a reconciler of yours: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns the node with all of its pods, their budgets, and every
//     request for it, of which none is older than another.
//  2. Apply refuses an action about a node, a pod or a request of another UID,
//     and evicts by the eviction API, which heeds budgets.
//  3. A Cordon keeps its mark with the node, and an Uncordon takes back only what
//     carries one: what others have cordoned stays so.
//  4. World.Fenced is said on evidence alone: that the machine is off, or cut off
//     from storage and network.
//  5. Trigger the node when a request, the node, its pods or their budgets have
//     changed. A lost trigger costs some minutes, no more.
package drain
