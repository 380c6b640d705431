// Package quorum protects the quorum of a control plane whose machines are
// replaced. It is the owner of a hook, like any other: machines with a voting
// member have the preDrain hook [Hook], and lose it only when their member is
// out of the cluster.
//
// [Step] decides what comes next; a [Runner] drives it, on a [Backend] that you
// write, or on [MemBackend].
//
// # How a machine is replaced
//
//  1. Every machine of the control plane that is not being deleted has the hook.
//  2. A machine is being deleted; the hook keeps its node from being drained.
//  3. Another machine joins. Its member is added as a learner, which does not
//     vote, and is brought up to date.
//  4. When the learner has caught up it is promoted: there is one voter more
//     than desired.
//  5. The member of the machine that is being deleted is removed.
//  6. That machine loses the hook, and its deletion goes on.
//
// # What always holds
//
//   - Of the voters at least a majority is healthy after each change, if it was
//     before.
//   - One member is changed at a time, at the revision of the membership that
//     the decision was made on.
//   - There are at most one voter more than desired, and fewer only where a
//     member was unhealthy and its machine was being deleted.
//   - The hook of a machine is removed only when it has no member.
//   - The member of a machine that is being deleted is never promoted.
//
// The tests explore every state of clusters of one, three and five members, with
// every vector of healths and every order of events.
//
// # What you write
//
//	runner, err := quorum.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // makes passes when they are due
//	runner.Trigger("cluster") // something has changed: from your watches
//	d, err := runner.Reconcile(ctx, "cluster") // or one pass, in a reconciler of yours: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns the members with the revision of the membership, and all
//     machines of the control plane.
//  2. Apply refuses a change of the membership at another revision. An etcd
//     refuses one that would cost its quorum, and that is returned.
//  3. Health is what the member says of itself, at most some seconds ago; a
//     member that does not answer is not healthy.
//  4. Trigger the cluster when a machine, a member or a guard has changed.
package quorum
