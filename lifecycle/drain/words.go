package drain

import (
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
)

// Reasons of the Blocks of drains.
const (
	ReasonPolicyInvalid    = "PolicyInvalid"       // the policy of the drain is wrong
	ReasonNodeMissing      = "NodeMissing"         // there is no node of that name
	ReasonRequestPaused    = "RequestPaused"       // a request is paused
	ReasonSlotTaken        = "SlotTaken"           // others are out of service first
	ReasonReplacementDue   = "ReplacementDue"      // its replacement must come first
	ReasonRequesterActs    = "RequesterActs"       // the node is empty, and it is the requester's turn
	ReasonSilentActs       = "RequesterActsSilent" // the same, and nobody knows whether its pods have ended
	ReasonUncordoning      = "Uncordoning"         // the node is being uncordoned
	ReasonBeingTainted     = "BeingTainted"        // the node is fenced, and is being tainted out-of-service
	ReasonStillTainted     = "StillTainted"        // the node was tainted out-of-service here, and is not back
	ReasonBeingUntainted   = "BeingUntainted"      // the node is back, and the taint out-of-service is being removed
	ReasonNodeSilent       = "NodeSilent"          // the node has stopped reporting
	ReasonNotCordoned      = "NotCordoned"         // the node is being cordoned
	ReasonPodPending       = "PodPending"          // a pod's eviction was requested, and is not seen yet
	ReasonPodTerminating   = "PodTerminating"      // a pod is being deleted
	ReasonPodRuns          = "PodRuns"             // a pod is allowed to complete
	ReasonPodProtected     = "PodProtected"        // the policy keeps a pod
	ReasonPodReturns       = "PodReturns"          // a pod tolerates the cordon, and its controller puts it back
	ReasonPodInvalid       = "PodInvalid"          // a pod cannot be distinguished from others of its name
	ReasonLaterOrder       = "LaterOrder"          // pods must go after those of a lower order
	ReasonBudgetSpent      = "BudgetSpent"         // a budget allows no disruption at the moment
	ReasonBudgetInUse      = "BudgetInUse"         // other pods of the budget are being evicted first
	ReasonBudgetNever      = "BudgetNever"         // a budget allows no disruption even when all its pods are healthy
	ReasonBudgetUnhealthy  = "BudgetUnhealthy"     // a budget keeps a pod that is not ready
	ReasonBudgetNodeSilent = "BudgetNodeSilent"    // a budget keeps a pod that is not ready because its node is silent
	ReasonPodStranded      = "PodStranded"         // a pod should have ended, and its node is silent
	ReasonBudgetSyncFailed = "BudgetSyncFailed"    // the disruption controller cannot compute the numbers of a budget
	ReasonNoRoom           = "NoRoom"              // of a prediction: a pod has no other node while its own is out of service
	ReasonBudgetUnobserved = "BudgetUnobserved"    // a budget is new or has changed, and its numbers are not computed yet
	ReasonBudgetBroken     = "BudgetBroken"        // the numbers of a budget are impossible
	ReasonManyBudgets      = "ManyBudgets"         // more than one budget selects a pod, which the API cannot evict then
	ReasonEvictionRefused  = "EvictionRefused"     // the API refused an eviction for now
	ReasonEvictionFailed   = "EvictionFailed"      // the API answered an eviction with an error
)

// inWords returns what a wait means, and what would end it.
func inWords(w *fairlead.Block) (message, unblock string) {
	pod := "pod " + w.Name
	switch w.Reason {
	case ReasonPolicyInvalid:
		return "the drain policy is invalid, so node " + w.Name + " is not drained", "correct the policy"
	case ReasonNodeMissing:
		return "there is no such node, and request " + w.Name + " is about it", "wait until the node joins, or cancel the request"
	case ReasonRequestPaused:
		return "request " + w.Name + " is paused: nothing is done or undone for it", "resume or cancel the request"
	case ReasonSlotTaken:
		return "it waits for a slot of limit " + w.Name, "wait until the holder of the slot is back in service or gone"
	case ReasonReplacementDue:
		return "its replacement must come first, by limit " + w.Name, "wait until another node takes its place and is ready, or withdraw the request for a replacement"
	case ReasonRequesterActs:
		return "it is out of service for request " + w.Name, "wait until its requester has done the work and ended the request"
	case ReasonSilentActs:
		return "it is out of service for request " + w.Name + ", but it does not report: pods that should have ended may still run there", "its requester must make sure that the node is powered off, do the work and end the request"
	case ReasonUncordoning:
		return "no request is left, so it is being uncordoned", "wait until the node is schedulable"
	case ReasonBeingTainted:
		return "it is fenced, and is being tainted " + OutOfServiceTaint, "wait until the node has the taint; the cluster then releases its pods"
	case ReasonStillTainted:
		return "it is tainted " + OutOfServiceTaint + ", and not back yet", "wait until the node reports again and is no longer fenced; then the taint is removed"
	case ReasonBeingUntainted:
		return "it is back, so the taint " + OutOfServiceTaint + " is being removed", "wait until the taint is gone"
	case ReasonNodeSilent:
		return "no reports from node " + w.Name + ", so it is unknown whether its pods have ended", "repair the node; or, if it is known to be powered off, taint it node.kubernetes.io/out-of-service=nodeshutdown:NoExecute, or report the instance as stopped"
	case ReasonNotCordoned:
		return "node " + w.Name + " is being cordoned", "wait until the node is unschedulable; if that takes long, check the errors of the API server"
	case ReasonPodPending:
		return pod + " is being removed", "wait until the pod has ended"
	case ReasonPodTerminating:
		if w.Owner == "batch.kubernetes.io/job-tracking" {
			return pod + " is terminating", "the Job controller, in kube-controller-manager, must count the pod and then removes finalizer " + w.Owner + ": check that controller; if the Job is gone, remove the finalizer"
		}
		if w.Owner != "" && w.Owner != "kubelet" {
			return pod + " is terminating", "the controller that owns finalizer " + w.Owner + " must finish and remove it: check that controller"
		}
		return pod + " is terminating", "wait until it has ended; if it never does, check its finalizers and the kubelet of its node"
	case ReasonPodRuns:
		return pod + " is allowed to complete", "wait until it succeeds or fails; or delete it, or remove the rule or label that says wait-completed"
	case ReasonPodProtected:
		return pod + " may not be removed", "move or delete it, or allow it in the drain policy"
	case ReasonPodReturns:
		return pod + " tolerates that the node is cordoned, and was created there since: after an eviction its controller would put another one there", "remove the toleration of node.kubernetes.io/unschedulable from the template of its controller, or give it other nodes; if it belongs on every node, make it a DaemonSet"
	case ReasonPodInvalid:
		return pod + " is left alone", "delete it yourself"
	case ReasonLaterOrder:
		return "pods of node " + w.Name + " wait for pods of a lower order", "wait until those pods are gone"
	case ReasonPodStranded:
		return pod + " should have ended, but its node is silent", "repair the node; or, once it is known to be powered off, taint it node.kubernetes.io/out-of-service=nodeshutdown:NoExecute: then the pod is deleted and its volumes are detached. While it may still run, a forced deletion risks two writers on one volume"
	case ReasonEvictionRefused:
		return pod + " may not be evicted at present", "wait: the eviction is retried"
	case ReasonEvictionFailed:
		return pod + " could not be evicted", "fix what refuses it, as named by the API server; the eviction is retried"
	}
	return budgetWords(w)
}

// budgetWords is inWords for pods that are kept by their budgets.
func budgetWords(w *fairlead.Block) (message, unblock string) {
	pod := "pod " + w.Name
	switch w.Reason {
	case ReasonBudgetSpent:
		return pod + " may not be evicted at present", "make another pod of the budget healthy, or change the budget to allow more disruptions"
	case ReasonBudgetInUse:
		return pod + " waits until other pods of its budget are replaced", "wait until those are replaced and healthy"
	case ReasonBudgetNever:
		return pod + " can never be evicted, even when every pod of its budget is healthy", "run more replicas, or lower minAvailable or raise maxUnavailable of the budget"
	case ReasonBudgetUnhealthy:
		return pod + " is not ready, but its budget also protects such pods", "make the pod ready, or allow the eviction of pods that are not ready: " + alwaysAllow(w)
	case ReasonBudgetNodeSilent:
		return pod + " is not ready because its node is silent, but its budget protects it", "repair the node; or fence it and report its instance as stopped; or allow the eviction of pods that are not ready: " + alwaysAllow(w)
	case ReasonBudgetUnobserved:
		return pod + " may not be evicted until the disruption controller has observed its budget", "wait until the status of the budget is current; if that takes long, check the disruption controller of kube-controller-manager"
	case ReasonBudgetSyncFailed:
		return pod + " may not be evicted: the disruption controller cannot compute its budget, which then allows nothing", "correct what the budget's condition names: maxUnavailable and percentages need a controller with a scale subresource; minAvailable as a number does not. The number of pods does not matter"
	case ReasonBudgetBroken:
		return pod + " may not be evicted: the numbers of its budget are impossible", "check the disruption controller, and status.disruptedPods of the budget"
	case ReasonManyBudgets:
		return pod + " is selected by more than one budget, so it cannot be evicted", "change the selectors so that one budget is left, or delete the pod"
	}
	return w.Reason + " " + w.Name, "wait until it passes"
}

// patient reports whether the wait just takes time.
func patient(w *fairlead.Block) bool {
	switch w.Reason {
	case ReasonPodPending, ReasonNodeSilent, ReasonPodRuns, ReasonLaterOrder, ReasonBudgetInUse:
		return true
	case ReasonNotCordoned, ReasonPodTerminating:
		return w.Detail == ""
	}
	return false
}

// How many pods and kinds of problems a condition names.
const (
	maxTroublePods  = 3
	maxTroubleKinds = 5
)

// trouble puts waits into one sentence, by problem, with the first pods of
// each.
func trouble(all []fairlead.Block) string {
	type kind struct {
		reason, detail string
		first          *fairlead.Block
		names          []string
		more           int
	}
	var kinds []kind
	left := 0
	for i := range all {
		w := &all[i]
		if patient(w) {
			continue
		}
		at := -1
		for j := range kinds {
			if kinds[j].reason == w.Reason && kinds[j].detail == w.Detail {
				at = j
			}
		}
		switch {
		case at < 0 && len(kinds) == maxTroubleKinds:
			left++
			continue
		case at < 0:
			kinds = append(kinds, kind{reason: w.Reason, detail: w.Detail, first: w})
			at = len(kinds) - 1
		}
		if k := &kinds[at]; len(k.names) < maxTroublePods {
			k.names = append(k.names, w.Name)
		} else {
			k.more++
		}
	}
	var text strings.Builder
	for i := range kinds {
		k := &kinds[i]
		if i > 0 {
			text.WriteString("; ")
		}
		message, _ := inWords(k.first)
		text.WriteString(strings.Replace(message, k.first.Name, strings.Join(k.names, ", "), 1))
		if k.more > 0 {
			fmt.Fprintf(&text, " (and %d more)", k.more)
		}
		if k.detail != "" {
			text.WriteString(": " + k.detail)
		}
	}
	if left > 0 {
		fmt.Fprintf(&text, "; and %d more", left)
	}
	return text.String()
}

// alwaysAllow returns the command by which the budget of a pod no longer protects pods that
// are not ready.
func alwaysAllow(w *fairlead.Block) string {
	namespace, name, _ := strings.Cut(strings.TrimPrefix(w.Owner, budgetTitle), "/")
	patch := map[string]any{"spec": map[string]any{"unhealthyPodEvictionPolicy": fairlead.AlwaysAllow}}
	return shell.Command("kubectl -n %s patch pdb %s --type merge -p %s", namespace, name, shell.JSON(patch))
}
