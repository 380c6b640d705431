// Package lifecycle takes machines through their deletion: lifecycle hooks, drain,
// detachment of volumes, the instance, the node, and finally the finalizer. It never
// waits silently.
//
// [Step] decides what comes next for one machine, or says whom it waits for, since
// when, and what would end the wait. A [Runner] drives it, on a [Backend] that you
// write, or on [MemBackend]. Machines are those of the Machine API or of the Cluster
// API, see [ReadDocument]. Package lifecycle/quorum owns the hook that protects the
// quorum of a control plane.
//
// # The stages of a deletion
//
//	PreDrain         until every preDrain hook is removed
//	Drain            until the node is empty, see drain.Policy
//	DetachVolumes    until no volume is attached, if the policy asks for it
//	PreTerminate     until every preTerminate hook is removed
//	Terminate        until the cloud has deleted the instance
//	DeleteNode       until the node object is gone
//	RemoveFinalizer  until the finalizer is gone
//	Done
//
// The drain is skipped if the machine is excluded from it, has no node or no instance,
// or if its cluster is being deleted; hooks are honoured anyway. The policy, or the
// machine, can limit the time of stages.
//
// # Hooks
//
// A stage waits until its hooks are gone. [Deadline] says what to do about a hook that
// stays, [HookOrder] which hooks come first. [Admit] prevents hooks from being added
// or changed once deletion has begun. Decision.Blocked lists each hook that the
// machine waits for separately, with its owner and the start of the wait.
//
// # Drains
//
// Package lifecycle/drain drains the node. It also drains nodes without a machine, and
// predicts how drains would go.
//
// Package lifecycle/fleet decides about many machines: which ones to delete, and how
// many at a time.
//
// # What always holds
//
// Whatever crashes, arrives late or arrives twice, and with several runners at work:
//
//	I1  a node is not touched while a preDrain hook is present
//	I2  no instance is deleted before Drained is True and preTerminate is empty
//	I3  once deletion has begun, hooks are only removed
//	I4  a completed stage comes back only for a node that was not drained
//	I5  a majority of voters stays healthy, see lifecycle/quorum
//	I6  the finalizer is removed once, and last
//	I7  the work of one Step is bounded by the number of pods on the node
//	I8  an unchanged world leads to no new decisions
//	I9  every wait names who must act, and ends in another Step
//
// This relies on backends that refuse an action on a machine at another revision, or
// on a node or pod with another UID. See [Action].
//
// # What you write
//
//	runner, err := lifecycle.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // reconciles each object when it is due
//	runner.Trigger("ns/worker-1") // from your watches: something has changed
//	d, err := runner.Reconcile(ctx, "ns/worker-1") // or one pass, in a reconciler of your own: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns the machine, its node, and the node's pods with their
//     budgets, all of the same age. Leave out what you do not know: an Instance
//     that is unknown never counts as gone.
//  2. Apply refuses an action on a machine at another revision, or on a node or
//     pod with another UID. If the work is already done, it returns success.
//  3. Return an API's refusal as a [*fairlead.RefusedError], so that the next Step
//     sees its status, its message and the delay that it requests.
//  4. New machines get the finalizer, and your admission webhook passes changes of
//     machines to [Admit].
//  5. Trigger the machine when it, its node, the node's pods, their budgets or
//     its instance have changed. A lost trigger only delays it by Policy.Resync.
package lifecycle
