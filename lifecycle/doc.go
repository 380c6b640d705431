// Package lifecycle takes machines through their deletion: lifecycle hooks,
// drain, detachment of volumes, the instance, the node, and at last the
// finalizer. It never waits in silence.
//
// [Step] decides what comes next for one machine, or says who is waited for,
// since when, and what would end it. A [Runner] drives it, on a [Backend] that
// you write, or on [MemBackend]. Machines are those of the Machine API or of the
// Cluster API, see [ReadDocument]. Package lifecycle/quorum owns the hook that
// protects the quorum of a control plane.
//
// # The stages of a deletion
//
//	PreDrain         until every preDrain hook is removed
//	Drain            until the node is empty, see drain.Policy
//	DetachVolumes    until no volume is attached, where policy wants it
//	PreTerminate     until every preTerminate hook is removed
//	Terminate        until the cloud has deleted the instance
//	DeleteNode       until the node object is gone
//	RemoveFinalizer  until the finalizer is gone
//	Done
//
// A drain is skipped for a machine that is excluded from it, has no node or no
// instance, or whose cluster goes; hooks are honoured all the same. Stages may be
// bounded by policy, or by the machine.
//
// # Hooks
//
// A hook is waited for until it is gone; [Deadline] says what is done about one
// that stays, [HookOrder] which come first. [Admit] keeps hooks from being added
// or changed once deletion has begun. Each hook that is waited for is named in
// Decision.Blocked by itself, with its owner, and since when.
//
// # Drains
//
// The node is drained as package lifecycle/drain says, which also takes nodes out
// of service that have no machine, and tells beforehand how drains would go.
//
// Package lifecycle/fleet decides about many machines: which ones go, and how
// many at a time.
//
// # What always holds
//
// Whatever crashes, comes late or comes twice, and with several runners at work:
//
//	I1  nothing is done about a node while a preDrain hook is there
//	I2  no instance is deleted before Drained is True and preTerminate is empty
//	I3  once deletion has begun, hooks only go
//	I4  a stage that is over comes back only for a node that was not drained
//	I5  a majority of voters stays healthy, see lifecycle/quorum
//	I6  the finalizer is removed once, and last
//	I7  the work of one Step is bounded by the pods of the node
//	I8  the same again decides on nothing again
//	I9  whoever waits names who is waited for, and looks again
//
// This rests on backends that refuse an action on a machine at another revision,
// and on a node or pod of another UID. See [Action].
//
// # What you write
//
//	runner, err := lifecycle.NewRunner(backend, policy, &fairlead.RunnerOptions{Store: store})
//	go runner.Run(ctx) // makes passes when they are due
//	runner.Trigger("ns/worker-1") // something has changed: from your watches
//	d, err := runner.Reconcile(ctx, "ns/worker-1") // or one pass, in a reconciler of yours: requeue at d.Wake
//
// Your duties, as the owner of the Backend:
//
//  1. Observe returns the machine, its node, and the node's pods with their
//     budgets, of which none is older than another. What is not known is left
//     out: an Instance that is unknown never counts as gone.
//  2. Apply refuses an action about a machine at another revision, and about a
//     node or pod of another UID. What is done already is a success.
//  3. What an API refuses is returned as a [*fairlead.RefusedError]: its status,
//     its message and the wait that it asks for reach the next Step.
//  4. New machines get the finalizer, and changes of machines pass [Admit]: from
//     your admission webhook.
//  5. Trigger the machine when it, its node, the node's pods, their budgets or
//     its instance have changed. A lost trigger costs Policy.Resync, no more.
package lifecycle
