// Package eviction evicts pods from nodes with NoExecute taints when their
// tolerations expire, and taints nodes that are not ready.
//
// [EvictAt] says when a pod must leave its node. [Step] decides what to do about a
// node, [ZoneStep] which nodes of all zones are tainted because they are not ready. A
// [Runner] drives both, on a [Backend] that you write, or on [MemBackend].
//
// # What always holds
//
// Whatever crashes, arrives late or arrives twice, and with several runners at work:
//
//  1. No pod is evicted before its deadline by the observed taints, and none that was
//     observed to have finished or to be terminating.
//  2. A pod that is due is evicted, however many attempts that takes; a Block says
//     what prevents it.
//  3. Another pod of the same name has its own deadline.
//  4. Nodes of a zone are not tainted faster than its rate allows, and no node has
//     both taints for not being ready.
//  5. When no node of any zone is ready, no pod is evicted because of that.
//  6. When one taint replaces another, as not-ready and unreachable do, no pod stays
//     longer than its longest toleration of them.
//
// The view may be stale: a pod that has just got a toleration, or whose node has just
// lost the taint, is still evicted by a decision made before. A taint that was removed
// and added again between two observations counts as new only if its timeAdded
// differs.
//
// # What you write
//
//	runner, err := eviction.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // reconciles each object when it is due
//	runner.Trigger("node-1") // from your watches: something has changed
//	d, err := runner.Reconcile(ctx, "node-1") // or one pass, in a reconciler of your own: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns a node with all pods that are bound to it. The view may be
//     stale, but each object must be as it was at one time.
//  2. Apply acts only on the UID that it is given, and does nothing if another
//     object has taken the name.
//  3. Trigger the node when it, a pod on it or a budget has changed. A lost trigger
//     delays the consequences until the next pass over the node.
//  4. Keep the Store: without it, a taint without timeAdded counts from when it is
//     first observed.
//  5. With Policy.NodeLifecycle the Backend is a [ZoneBackend], whose ObserveZones
//     returns every node.
package eviction
