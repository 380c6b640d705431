package lifecycle

// Reasons of Waits, and of the Blocks that they become.
const (
	ReasonHookPending     = "HookPending"     // the owner of a hook is to act
	ReasonHookNotInTurn   = "HookNotInTurn"   // another hook comes first, by Policy.Order
	ReasonHookOverdue     = "HookOverdue"     // the hook is there for longer than its soft deadline
	ReasonHookOwnerSilent = "HookOwnerSilent" // the owner shows no sign of life
	ReasonHookOwnerless   = "HookOwnerless"   // the hook names no owner
	ReasonHookApproval    = "HookApproval"    // its hard deadline is over; a person is to decide
	ReasonHookFailed      = "HookFailed"      // its hard deadline is over; the deletion has failed
	ReasonHookRemoval     = "HookRemoval"     // it is being removed in its owner's stead
	ReasonStatusPending   = "StatusPending"   // the machine's conditions are not seen as they are to be
	ReasonForeignNode     = "ForeignNode"     // the node that the machine names is of another machine
	ReasonDoubtfulNode    = "DoubtfulNode"    // nobody knows whether the node is the machine's
	ReasonSlotTaken       = "SlotTaken"       // other machines are drained first, see World.Slots
	ReasonVolumeAttached  = "VolumeAttached"  // a volume is attached to the node
	ReasonInstanceUnknown = "InstanceUnknown" // nobody knows whether there is an instance
	ReasonInstanceGoing   = "InstanceGoing"   // the cloud is deleting the instance
	ReasonNodeGoing       = "NodeGoing"       // the node object is being removed
	ReasonFinalizer       = "Finalizer"       // the finalizer is being removed
	ReasonOtherFinalizer  = "OtherFinalizer"  // somebody else's finalizer is left
)

// words returns what the wait means, and what would end it.
func (w *Wait) words() (message, unblock string) {
	hook := string(w.Point) + " hook " + w.Name
	const emergency = "; in an emergency an administrator removes it from spec.lifecycleHooks"
	switch w.Reason {
	case ReasonHookPending:
		return hook + " is not removed", "its owner does its work and removes the hook" + emergency
	case ReasonHookNotInTurn:
		return hook + " is not removed, and is not in turn", "the hooks before it are removed, then its owner removes it"
	case ReasonHookOverdue:
		return hook + " is not removed, and is overdue", "its owner does its work and removes the hook; look at why it does not" + emergency
	case ReasonHookOwnerSilent:
		return hook + " is not removed, and its owner shows no sign of life", "start its owner again" + emergency
	case ReasonHookOwnerless:
		return hook + " names no owner, so nobody will remove it", "an administrator finds out whose it is, and removes it from spec.lifecycleHooks"
	case ReasonHookApproval:
		return hook + " is past its hard deadline", "a person decides: set annotation " + SkipHookAnnotation + "=" + string(w.Point) + "/" + w.Name + " to go on without it, or have its owner remove it"
	case ReasonHookFailed:
		return hook + " is past its hard deadline, so the deletion has failed", "its owner or an administrator removes the hook"
	case ReasonHookRemoval:
		return hook + " is being removed in its owner's stead", "the machine is seen without it"
	case ReasonStatusPending:
		return "its conditions are being written", "the machine is seen with them"
	case ReasonForeignNode:
		return "node " + w.Name + ", which status.nodeRef names, belongs to another machine", "correct status.nodeRef, or set annotation " + ExcludeDrainAnnotation + " to go on without a drain"
	case ReasonDoubtfulNode:
		return "node " + w.Name + " is not the one that status.nodeRef names, but has its name, and nothing says on which instance it runs",
			"set spec.providerID of the node, or write its UID to status.nodeRef; or set annotation " + ExcludeDrainAnnotation + " to go on without a drain"
	case ReasonSlotTaken:
		return "it has to wait for a slot of limit " + w.Name + " to be drained", "the machine that holds it is gone"
	case ReasonVolumeAttached:
		return "volume " + w.Name + " is attached to the node", "the attach-detach controller detaches it; look at the pods that mount it"
	case ReasonInstanceUnknown:
		return "it is not known whether its instance exists", "the cloud answers"
	case ReasonInstanceGoing:
		return "its instance is being deleted", "the cloud has deleted it"
	case ReasonNodeGoing:
		return "node " + w.Name + " is being removed", "the node object is gone; look at its finalizers if it stays"
	case ReasonFinalizer:
		return "its finalizer is being removed", "the machine is seen without it"
	case ReasonOtherFinalizer:
		return "finalizer " + w.Name + " is left", "whoever set it removes it"
	}
	return drainWords(w)
}
