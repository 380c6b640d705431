package lifecycle

import (
	"cmp"

	"github.com/fairlead/fairlead"
)

// Reasons of Blocks.
const (
	ReasonHookPending      = "HookPending"      // the owner of a hook must act
	ReasonHookNotInTurn    = "HookNotInTurn"    // another hook comes first, by Policy.Order
	ReasonHookOverdue      = "HookOverdue"      // the hook has existed for longer than its soft deadline
	ReasonHookOwnerSilent  = "HookOwnerSilent"  // the owner sends no heartbeats
	ReasonHookOwnerUnknown = "HookOwnerUnknown" // the hook names no owner, and none is known
	ReasonHookApproval     = "HookApproval"     // its hard deadline has passed; a person must decide
	ReasonHookFailed       = "HookFailed"       // its hard deadline has passed; the deletion has failed
	ReasonHookRemoval      = "HookRemoval"      // it is being removed on behalf of its owner
	ReasonPaused           = "Paused"           // the machine or its cluster is paused
	ReasonStatusPending    = "StatusPending"    // the machine's conditions are not yet observed as they should be
	ReasonForeignNode      = "ForeignNode"      // the node that the machine names belongs to another machine
	ReasonDoubtfulNode     = "DoubtfulNode"     // it is unknown whether the node is the machine's
	ReasonSlotTaken        = "SlotTaken"        // other machines are drained first, see World.Slots
	ReasonVolumeAttached   = "VolumeAttached"   // a volume is attached to the node
	ReasonInstanceUnknown  = "InstanceUnknown"  // it is unknown whether there is an instance
	ReasonInstanceGoing    = "InstanceGoing"    // the cloud is deleting the instance
	ReasonObjectUnknown    = "ObjectUnknown"    // it is unknown whether an object of a provider exists
	ReasonObjectGoing      = "ObjectGoing"      // an object of a provider is being deleted
	ReasonInPlaceAsked     = "InPlaceAsked"     // an in-place update was requested and has not begun
	ReasonInPlace          = "InPlace"          // the machine is being updated in place
	ReasonInPlaceFailed    = "InPlaceFailed"    // its in-place update has failed
	ReasonInPlaceEnding    = "InPlaceEnding"    // its in-place update has ended, and that is being recorded
	ReasonNodeGoing        = "NodeGoing"        // the node object is being removed
	ReasonFinalizer        = "Finalizer"        // the finalizer is being removed
	ReasonOtherFinalizer   = "OtherFinalizer"   // somebody else's finalizer is left
)

// words returns what a wait means, and what would end it; known is false if it is one
// of the drain.
func words(w *fairlead.Block) (message, unblock string, known bool) {
	message, unblock = ownWords(w)
	return message, unblock, message != ""
}

func ownWords(w *fairlead.Block) (message, unblock string) {
	switch w.Reason {
	case ReasonHookPending, ReasonHookNotInTurn, ReasonHookOverdue, ReasonHookOwnerSilent, ReasonHookOwnerUnknown, ReasonHookApproval, ReasonHookFailed, ReasonHookRemoval:
		return hookWords(w)
	case ReasonPaused:
		return "it is paused: nothing is done about it", "remove " + w.Name
	case ReasonStatusPending:
		return "its conditions are being written", "wait until the machine is seen with them"
	case ReasonForeignNode:
		return "node " + w.Name + ", which status.nodeRef names, belongs to another machine", "correct status.nodeRef, or set annotation " + cmp.Or(w.Field, ExcludeDrainAnnotation) + " to go on without a drain"
	case ReasonDoubtfulNode:
		return "node " + w.Name + " is not the one that status.nodeRef names, but has its name, and nothing says on which instance it runs",
			"set spec.providerID of the node, or write its UID to status.nodeRef; or set annotation " + cmp.Or(w.Field, ExcludeDrainAnnotation) + " to go on without a drain"
	case ReasonSlotTaken:
		return "it must wait for a slot of limit " + w.Name + " to be drained", "wait until the holder of the slot is back in service, or gone"
	case ReasonVolumeAttached:
		return "volume " + w.Name + " is attached to the node", "wait until the attach-detach controller detaches it; check the pods that mount it"
	case ReasonInstanceUnknown:
		return "it is unknown whether its instance exists, so nothing is done about it", "make the cloud answer: check its credentials, and whether its API is reachable"
	case ReasonInstanceGoing:
		return "its instance is being deleted", "wait until the cloud has deleted it; if that takes long, check the instance there: spec.providerID names it"
	case ReasonObjectUnknown:
		return "it is unknown whether " + w.Name + " exists, so nothing is done about it", "make the API server answer: check that its CustomResourceDefinition exists and that its conversion webhook runs"
	case ReasonObjectGoing:
		return w.Name + " is being deleted", "its provider's controller must release it: check the conditions of " + w.Name + " and that controller. Do not remove its finalizer manually: what the object stands for would stay and cost money"
	case ReasonInPlaceAsked:
		return "its update in place has not started", "have its owner mark it (" + updateMachine + " in annotation " + pendingHooks + "): check the controller of its owner"
	case ReasonInPlace:
		return "it is being updated in place; its node may restart", "wait until the extension says that it is done; condition " + conditionUpdating + " reports the progress"
	case ReasonInPlaceFailed:
		return "its update in place has failed, and is retried", "check the extension (kubectl get extensionconfigs; exactly one may serve " + updateMachine + ") and its logs; or delete the machine: it is drained, and its owner creates another"
	case ReasonInPlaceEnding:
		return "its update in place is over, and that is being recorded", "wait until annotation " + pendingHooks + " no longer names " + updateMachine
	case ReasonNodeGoing:
		return "node " + w.Name + " is being removed", "wait until the node object is gone; if it stays, check its finalizers"
	case ReasonFinalizer:
		return "its finalizer is being removed", "wait until it is gone"
	case ReasonOtherFinalizer:
		if k, is := Lookup(KnownFinalizer, w.Name); is {
			return "finalizer " + w.Name + " is left, which protects " + k.Protects, k.Way
		}
		return "finalizer " + w.Name + " is left", "have whoever set it remove it: the audit log and metadata.managedFields show who"
	}
	return "", ""
}
