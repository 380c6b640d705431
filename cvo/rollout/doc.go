// Package rollout brings the nodes of a pool to a new configuration, so many at
// a time that never more are down than the pool allows.
//
// [Step] decides what comes next; a [Runner] drives it, on a [Backend] that you
// write, or on [MemBackend]. [Choose] alone says which nodes may be begun, and
// [Status] reports on a pool.
//
// # The way of a node
//
//	told       the node is told what it is to run
//	cordoned   no new pods go there
//	drained    its pods move away; this may wait for disruption budgets
//	updated    its configuration is changed, and it reboots
//	uncordoned it takes pods again
//
// Each node goes by itself, so nodes may be through in another order than they
// were begun in. As soon as one is, the next is begun.
//
// # The budget
//
// spec.maxUnavailable is a number or a percentage of the nodes, rounded down; it
// is 1 if nobody says otherwise, and never less. A node takes room in it from
// the decision to begin it until it takes pods again. So does every node that
// takes no pods for another reason, and every one that could not be updated:
// [Choice] tells them, and Blocks say what would help.
//
// # Images and quorum
//
// World.Build tells how far the image is that a pool is to run: no node is begun
// before it is there. World.Peers are the nodes of another pool that keep quorum
// together with those of this one, as the control plane and arbiters do: no node
// is begun while one of them is down.
//
// # What always holds
//
// Whatever crashes, comes late or comes twice, and with several runners at work
// on one Store: never more nodes are on their way than the budget allowed when
// the last of them was chosen. This rests on two rules: what was chosen is saved
// before a node is told, and actions change a node only at the revision that
// they were decided on. Configurations have names that are not used again, as
// those of the Machine Config Operator, which are hashes.
//
// # Differences from the reference
//
//   - The engine takes nodes through all stages. The reference tells them what
//     to run, and an agent on each does the rest.
//   - A node that could not be updated is told at once when the pool is to run
//     something else. In the reference it stays cordoned, and broken.
//   - A node that somebody has cordoned before it was its turn is told of. In the
//     reference it takes room in the budget without a word.
//   - A node on its way finishes before it is told something else.
//   - A node that nobody has told anything is begun as others are.
//   - Nodes are begun in one order, whether there is room for all or not.
//
// # What you write
//
//	runner, err := rollout.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // makes passes when they are due
//	runner.Trigger("worker") // something has changed: from your watches
//	d, err := runner.Reconcile(ctx, "worker") // or one pass, in a reconciler of yours: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns the pool and all of its nodes, as they are.
//  2. Apply changes a node only at the revision that the action names, and
//     returns an error otherwise.
//  3. Somebody changes the node that an action has told to be updated, and reports
//     by annotations. Nodes that are to be drained are drained by the engine where
//     World.Pods has their pods, and by somebody else where it has not.
//  4. Trigger a pool when it or one of its nodes has changed.
package rollout
