// Package rollout updates the nodes of a pool to a new configuration, and never takes
// down more nodes at a time than the pool allows.
//
// [Step] decides what comes next; a [Runner] drives it, on a [Backend] that you
// write, or on [MemBackend]. [Choose] alone says which nodes may start, and [Status]
// reports on a pool.
//
// # The stages of a node
//
//	told       the node's desired configuration is set
//	cordoned   no new pods are placed there
//	drained    its pods move away; this may wait for disruption budgets
//	updated    its configuration is changed, and it reboots
//	uncordoned it takes pods again
//
// Each node proceeds on its own, so nodes may finish in another order than they
// started. As soon as one finishes, the next one starts.
//
// # The budget
//
// spec.maxUnavailable is a number, or a percentage of the nodes, rounded down; the
// default and minimum is 1. A node counts against it from the decision to start the
// node until it is uncordoned. So does every node that takes no pods for another
// reason, and every node whose update failed: [Choice] lists them, and Blocks say
// what would help.
//
// # Images and quorum
//
// World.Build says whether the image for the pool has been built: no node starts
// before that. World.Peers are the nodes of another pool that share a quorum with this
// one, as control plane and arbiters do: no node starts while one of them is down.
//
// # What always holds
//
// Whatever crashes, arrives late or arrives twice, and with several runners on one
// Store: there are never more nodes being updated than the budget allowed when the
// last of them was selected. This relies on two rules: a selection is saved before the
// node is touched, and actions change a node only at the revision that they were
// decided on. Names of configurations are never reused; those of the Machine Config
// Operator are hashes.
//
// # Differences from the reference
//
//   - The engine takes nodes through all stages. The reference sets the desired
//     configuration, and an agent on each node does the rest.
//   - A node whose update failed gets a new configuration as soon as the pool does.
//     In the reference it stays cordoned, and broken.
//   - A node that somebody cordoned before its turn is reported. In the reference it
//     silently counts against maxUnavailable.
//   - A node that is being updated finishes before it gets another configuration.
//   - A node without a desired configuration is started like the others.
//   - Nodes always start in the same order, whether there is room for all or not.
//
// # What you write
//
//	runner, err := rollout.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // reconciles each object when it is due
//	runner.Trigger("worker") // from your watches: something has changed
//	d, err := runner.Reconcile(ctx, "worker") // or one pass, in a reconciler of your own: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns the pool and all of its nodes.
//  2. Apply changes a node only at the revision that the action names, and
//     returns an error otherwise.
//  3. Something must update the node when an Update action requests it, and report by
//     annotations. The engine drains nodes itself if World.Pods has their pods;
//     otherwise something else must drain them.
//  4. Trigger a pool when it or one of its nodes has changed.
package rollout
