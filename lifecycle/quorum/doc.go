// Package quorum protects the quorum of a control plane whose machines are replaced.
// It owns a hook like any other controller: machines with a voting member have the
// preDrain hook [Hook], and lose it only when their member has left the cluster.
//
// [Step] decides what comes next; a [Runner] drives it, on a [Backend] that you
// write, or on [MemBackend].
//
// # How a machine is replaced
//
//  1. Every control-plane machine that is not being deleted has the hook.
//  2. When a machine is deleted, the hook prevents the drain of its node.
//  3. Another machine joins. Its member is added as a learner, which does not
//     vote, and catches up.
//  4. The learner is promoted: there is now one more voter than desired.
//  5. The member of the deleted machine is removed.
//  6. The deleted machine loses the hook, and its deletion goes on.
//
// # What always holds
//
//   - At least a majority of the voters is healthy after each change, if it was
//     before.
//   - One member is changed at a time, at the revision of the membership that
//     the decision was based on.
//   - There is at most one more voter than desired, and fewer than desired only if
//     a member was unhealthy and its machine was being deleted.
//   - The hook of a machine is removed only when it has no member.
//   - The member of a machine that is being deleted is never promoted.
//
// The tests explore every state of clusters of one, three and five members, with
// every combination of health and every order of events.
//
// # What you write
//
//	runner, err := quorum.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // reconciles each object when it is due
//	runner.Trigger("cluster") // from your watches: something has changed
//	d, err := runner.Reconcile(ctx, "cluster") // or one pass, in a reconciler of your own: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns the members with the revision of the membership, and all
//     control-plane machines.
//  2. Apply refuses a change of the membership at another revision, and returns
//     the error when etcd refuses a change that would lose quorum.
//  3. Health is what the member itself reported, at most some seconds ago; a
//     member that does not answer is unhealthy.
//  4. Trigger the cluster when a machine, a member or a guard has changed.
package quorum
