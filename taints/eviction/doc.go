// Package eviction makes pods leave nodes with NoExecute taints when the time that
// they tolerate them is over, and puts taints on nodes that are not ready.
//
// [EvictAt] says when a pod must leave its node. [Step] decides for a node what
// to do about it, [ZoneStep] for all zones which nodes are tainted for not being
// ready. A [Runner] drives both, on a [Backend] that you write, or on
// [MemBackend].
//
// # What always holds
//
// Whatever crashes, comes late or comes twice, and with several runners at work:
//
//  1. No pod is evicted before its deadline by the taints that were seen, and
//     none that was seen to have finished or to terminate.
//  2. A pod that is due is evicted once, however often it takes; what keeps it
//     is told by a Block.
//  3. Another pod of the same name has a deadline of its own.
//  4. No more nodes of a zone are tainted for not being ready than its rate
//     allows; none has both of the taints for that.
//  5. When no node of any zone is ready, nobody is evicted for it.
//  6. A node whose taints come in each other's place, as not-ready and unreachable
//     do, keeps no pod longer than the longest of its tolerations of them.
//
// What is seen may be old: a pod that has come to tolerate a taint, or whose node
// has lost it, is still evicted by a decision made just before. A taint that goes
// and comes back while nobody looks is another one only if its timeAdded is.
//
// # What you write
//
//	runner, err := eviction.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // makes passes when they are due
//	runner.Trigger("node-1") // something has changed: from your watches
//	d, err := runner.Reconcile(ctx, "node-1") // or one pass, in a reconciler of yours: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe shows a node with all pods that are bound to it. It may be late, but
//     what it shows of one object was true at one time.
//  2. Apply acts on the UID that it is given, and does nothing where another object
//     has the name.
//  3. Trigger the node when it, a pod on it or a budget has changed. A trigger that
//     is lost delays what follows from it until the node is looked at again.
//  4. The Store is kept: without it taints that do not say when they were added
//     count as added when they are seen first.
//  5. With Policy.NodeLifecycle the Backend is a [ZoneBackend], whose ObserveZones
//     shows every node.
package eviction
