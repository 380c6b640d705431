package lifecycle

import (
	"strings"

	"github.com/fairlead/fairlead"
)

// Known is what is known about something that blocks deletions, or changes them:
// a hook, an annotation or a finalizer of a well-known owner.
type Known struct {
	Kind     string `json:"kind"`     // hook, annotation or finalizer
	Name     string `json:"name"`     // of a hook, without the prefix in the key of an annotation
	Owner    string `json:"owner"`    // who sets and removes it
	Protects string `json:"protects"` // what is lost without it
	Way      string `json:"way"`      // what to do if it stays
}

// The kinds of things that are known.
const (
	KnownHook       = "hook"
	KnownAnnotation = "annotation"
	KnownFinalizer  = "finalizer"
)

// Lookup returns what is known about a hook, annotation or finalizer, or false.
// An unknown one can still have an owner.
func Lookup(kind, name string) (Known, bool) {
	for _, k := range known {
		if k.Kind == kind && k.Name == name {
			return k, true
		}
	}
	return Known{}, false
}

// known is what Lookup knows. The values of the Cluster API's hooks are empty by
// design, but their owners are known.
var known = []Known{
	{KnownHook, "kcp-cleanup", "the control plane's controller (KubeadmControlPlane, or that of RKE2, k0s or Talos)",
		"etcd: the controller hands leadership over and removes the member before the instance is deleted",
		"check the conditions of the control plane object and its controller; it lets one machine go at a time, after all other hooks. Do not remove the hook manually while the machine's etcd member is listed"},
	{KnownHook, "EtcdQuorumOperator", "clusteroperator/etcd",
		"etcd's quorum: the operator removes the member once another one has taken its place",
		"make sure that another machine of the control plane joins, and check clusteroperator/etcd. Do not remove the hook manually while the machine's etcd member is listed"},
	{KnownHook, "rke2-lb-exclusion", "the RKE2 control plane provider",
		"connections: load balancers are given time to stop using the node", "check the RKE2 control plane provider's controller"},
	{KnownHook, "linstor-prepare-for-drain", "the LINSTOR operator (Piraeus)",
		"volumes: replicas are prepared for the loss of the node", "check the LINSTOR operator; if the hook is removed manually, replicas may be lost"},
	{KnownHook, "linstor-wait-for-complete-evacuation", "the LINSTOR operator (Piraeus)",
		"volumes: replicas are moved off the node", "check the LINSTOR operator; if the hook is removed manually, replicas may be lost"},
	{KnownHook, "avi-cleanup", "the AKO operator", "load balancers that the cluster created", "check the AKO operator"},
	{KnownAnnotation, ExcludeDrainAnnotation, "an administrator", "nothing: it removes the pods' protection", "remove it so that the node is drained"},
	{KnownAnnotation, excludeDrainCAPI, "an administrator", "nothing: it removes the pods' protection", "remove it so that the node is drained"},
	{KnownAnnotation, PausedAnnotation, "whoever moves or repairs the cluster", "the object, from every controller", "remove it when the work is done"},
	{KnownAnnotation, DeleteAnnotation, "whoever scales the set down", "nothing: it says which machine goes first", "remove it to keep the machine"},
	{KnownFinalizer, Finalizer, "the Machine API's machine controller", "the instance, which would keep running unnoticed", "wait until the deletion ends; if it is removed manually, the instance stays and costs money"},
	{KnownFinalizer, FinalizerClusterAPI, "the Cluster API's machine controller", "the instance and its configuration, which would stay unnoticed", "wait until the deletion ends; if it is removed manually, infrastructure is left behind"},
	{KnownFinalizer, "foregroundDeletion", "the garbage collector", "what the object owns: it is deleted first", "look for objects that it owns and that are not deleted, by their ownerReferences"},
	{KnownFinalizer, "orphan", "the garbage collector", "what the object owns: it is kept", "check kube-controller-manager"},
	{KnownFinalizer, "batch.kubernetes.io/job-tracking", "the Job controller", "the Job's count of pods that have ended", "check kube-controller-manager; if the Job is gone, the finalizer may be removed"},
	{KnownFinalizer, "karpenter.sh/termination", "Karpenter", "the instance, and the drain of its node", "check the NodeClaim and Karpenter; if it is removed manually, the instance stays and costs money"},
}

// PausedAnnotation makes every controller leave an object alone, whatever its
// value is.
const PausedAnnotation = "cluster.x-k8s.io/paused"

// annotationsField is the field of a wait for a hook that is an annotation.
const annotationsField = "metadata.annotations"

// hookWords describes the wait for a hook, with what is known about it.
func hookWords(w *fairlead.Block) (message, unblock string) {
	hook := w.Point + " hook " + w.Name
	where := w.Field
	switch where {
	case "":
		where = "spec.lifecycleHooks"
	case annotationsField:
		prefix := PreDrainAnnotation
		if w.Point == string(PreTerminate) {
			prefix = PreTerminateAnnotation
		}
		where = "annotation " + annotation(prefix, w.Name)
	}
	emergency := "; in an emergency, remove it from " + where
	k, is := Lookup(KnownHook, w.Name)
	if is {
		emergency = "; it protects " + k.Protects + ": " + k.Way
	}
	switch w.Reason {
	case ReasonHookPending:
		return hook + " is not removed", "ask its owner to finish and remove the hook" + emergency
	case ReasonHookNotInTurn:
		return hook + " is not removed, because it is not its turn", "wait until the hooks before it are removed; then its owner removes it"
	case ReasonHookOverdue:
		return hook + " is not removed, and is overdue", "ask its owner why, and to finish and remove the hook" + emergency
	case ReasonHookOwnerSilent:
		return hook + " is not removed, and its owner sends no heartbeats", "restart its owner" + emergency
	case ReasonHookOwnerUnknown:
		return hook + " is not removed, and does not name its owner", "find its owner, who must remove it, in " + ownersTold(where) + "; only its owner knows what it protects, so find that out before you remove it from " + where
	case ReasonHookApproval:
		return hook + " is past its hard deadline", "decide: set annotation " + SkipHookAnnotation + "=" + w.Point + "/" + w.Name + " to go on without it, or have its owner remove it" + protects(k)
	case ReasonHookFailed:
		return hook + " is past its hard deadline, so the deletion has failed", "ask its owner to remove the hook, or remove it yourself" + protects(k)
	}
	return hook + " is being removed on behalf of its owner", "wait until it is gone"
}

// ownersTold says where to find out who set a hook.
func ownersTold(where string) string {
	if strings.HasPrefix(where, "annotation ") {
		return "metadata.managedFields (kubectl get --show-managed-fields) and the audit log"
	}
	return "the audit log and metadata.managedFields"
}

func protects(k Known) string {
	if k.Protects == "" {
		return ""
	}
	return "; it protects " + k.Protects
}
