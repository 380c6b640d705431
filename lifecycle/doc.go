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
// XX//
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
package lifecycle
