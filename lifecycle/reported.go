package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
)

// Reasons of Blocks about machines that do not run.
const (
	ReasonMachineFailed    = "MachineFailed"     // its controller has given up
	ReasonNoInstance       = "NoInstance"        // there is no instance yet
	ReasonInstanceMissing  = "InstanceMissing"   // there was an instance, and it is gone
	ReasonNoNode           = "NoNode"            // there is an instance, and no node
	ReasonNodeOfAnother    = "NodeOfAnother"     // the node that it names runs on another instance
	ReasonMachineNodeGone  = "NodeGone"          // its node object is gone
	ReasonMachineNodeState = "NodeNotReady"      // its node is not ready
	drainSucceededCAPI     = "DrainingSucceeded" // v1beta1 of the Cluster API
	conditionDeletingCAPI  = "Deleting"          // v1beta2 of the Cluster API
)

// Slow is how long a machine may take to get an instance, or a node, before
// [NotRunning] reports it.
const Slow = 20 * time.Minute

// Reported returns what the machine's own controller reports as not done: the
// conditions that are False, and of the Cluster API condition Deleting with its reason,
// in the order of the machine. Conditions that say only that there are no hooks, or
// that an instance exists, are left out. They are shared with the machine.
func Reported(m *Machine) []Condition {
	var all []Condition
	for _, c := range m.Status.Conditions {
		switch {
		case m.clusterAPI() && c.Type == conditionDeletingCAPI:
			if c.Status == fairlead.ConditionTrue {
				all = append(all, c)
			}
		case m.clusterAPI() && m.Deleting() && !deletionCAPI(c.Type):
		case c.Status == fairlead.ConditionFalse:
			all = append(all, c)
		}
	}
	return all
}

// deletionCAPI reports whether a condition of v1beta1 is about a deletion.
func deletionCAPI(kind string) bool {
	return slices.Contains([]string{"PreDrainDeleteHookSucceeded", drainSucceededCAPI, "VolumeDetachSucceeded", "PreTerminateDeleteHookSucceeded", "InfrastructureReady", "BootstrapReady"}, kind)
}

// DrainReported reports whether the machine's own controller says that it has drained
// the node.
func DrainReported(m *Machine) bool {
	if c := FindCondition(m.Status.Conditions, ConditionDrained); c != nil && c.Status == fairlead.ConditionTrue {
		return true
	}
	if !m.clusterAPI() {
		return false
	}
	if c := FindCondition(m.Status.Conditions, drainSucceededCAPI); c != nil && c.Status == fairlead.ConditionTrue {
		return true
	}
	if d := m.Status.Deletion; d != nil && (d.WaitForNodeVolumeDetachStartTime != nil || d.WaitForPreTerminateHookStartTime != nil) {
		return true
	}
	c := FindCondition(m.Status.Conditions, conditionDeletingCAPI)
	return c != nil && c.Status == fairlead.ConditionTrue && slices.Contains([]string{
		"WaitingForVolumeDetach", "WaitingForPreTerminateHook", "WaitingForInfrastructureDeletion", "WaitingForBootstrapDeletion", "DeletingNode", "DeletionCompleted",
	}, c.Reason)
}

// startReported returns when a stage began, as the machine's own controller reports it;
// zero if it does not.
func startReported(m *Machine, stage Stage) time.Time {
	d := m.Status.Deletion
	if d == nil {
		return time.Time{}
	}
	var at *time.Time
	switch stage {
	case StageDrain:
		at = d.NodeDrainStartTime
	case StageVolumes:
		at = d.WaitForNodeVolumeDetachStartTime
	case StagePreTerminate:
		at = d.WaitForPreTerminateHookStartTime
	}
	if at == nil {
		return time.Time{}
	}
	return *at
}

// NotRunning says why a machine that is not being deleted does not run, as far as it
// and the nodes show: it has failed, or has no instance, node, or ready node for longer
// than that takes. ok is false if it runs, or may be about to.
func NotRunning(m *Machine, nodes []Node, now time.Time) (b fairlead.Block, ok bool) {
	if m.Deleting() {
		return b, false
	}
	b = fairlead.Block{Subject: "machine " + m.ObjectMeta.String(), Since: m.CreationTimestamp}
	node := NodeOf(m, nodes)
	switch {
	case m.Status.Phase == PhaseFailed || m.Status.ErrorReason != "" || m.Status.ErrorMessage != "":
		return failed(b, m), true
	case node != nil && m.Spec.ProviderID != "" && node.Spec.ProviderID != "" && node.Spec.ProviderID != m.Spec.ProviderID:
		b.Reason, b.Message = ReasonNodeOfAnother, "node "+node.Name+", which status.nodeRef names, runs on instance "+node.Spec.ProviderID+", and the machine is "+m.Spec.ProviderID
		b.Unblock = "find out which of the two is right: one of the machines was created again under the name of the other"
		return b, true
	case node != nil:
		return notReady(b, node, now)
	case gone(m):
		b.Reason, b.Message, b.Owner = ReasonInstanceMissing, "its instance is gone from the cloud", "whoever deleted it there"
		b.Unblock = "delete the machine: its set creates another one; the cloud's log shows who deleted the instance"
		return b, true
	case m.Status.NodeRef != nil:
		b.Reason, b.Message = ReasonMachineNodeGone, "its node "+m.Status.NodeRef.Name+" is not there"
		b.Unblock = "delete the machine if the node does not come back: its set creates another one"
		return b, len(nodes) > 0
	case !m.CreationTimestamp.IsZero() && now.Sub(m.CreationTimestamp) <= Slow:
		return b, false
	case m.Spec.ProviderID == "":
		b.Reason, b.Message, b.Owner = ReasonNoInstance, "it has no instance (phase "+cmp.Or(string(m.Status.Phase), "unknown")+")", "the machine's controller"
		b.Message += said(m)
		b.Unblock = "look at the conditions and events of the machine: quota, image, credentials or network of the cloud are the usual causes"
		return b, true
	}
	b.Reason, b.Message = ReasonNoNode, "its instance "+m.Spec.ProviderID+" has not become a node (phase "+cmp.Or(string(m.Status.Phase), "unknown")+")"+said(m)
	b.Unblock = "look for a CertificateSigningRequest that is Pending: " + shell.Command("kubectl get csr") + "; then at the console of the instance: its kubelet must reach the API server"
	if others := strangers(nodes); len(others) > 0 {
		b.Message += "; no node has that providerID, and " + strings.Join(others, ", ") + " has none"
		b.Unblock += "; if one of these is its node, its providerID is missing: check the cloud controller manager"
	}
	return b, true
}

// failed completes a block about a machine whose controller has given up.
func failed(b fairlead.Block, m *Machine) fairlead.Block {
	b.Reason, b.Message = ReasonMachineFailed, "it has failed"
	if m.Status.ErrorReason != "" {
		b.Message += ": " + m.Status.ErrorReason
	}
	if m.Status.ErrorMessage != "" {
		b.Message += ": " + m.Status.ErrorMessage
	}
	b.Since = time.Time{}
	if m.Status.LastUpdated != nil {
		b.Since = *m.Status.LastUpdated
	}
	b.Unblock = "correct what it names, for example in the template of its set, and delete the machine: a failed machine is not tried again"
	return b
}

// notReady completes a block about a machine whose node is there.
func notReady(b fairlead.Block, n *Node, now time.Time) (fairlead.Block, bool) {
	c := n.NotReady()
	if c == nil {
		return b, false
	}
	b.Reason, b.Message, b.Owner = ReasonMachineNodeState, fmt.Sprintf("its node %s is not ready: Ready=%s", n.Name, c.Status), "kubelet"
	if c.Status == fairlead.ConditionUnknown {
		b.Message = "its node " + n.Name + " has stopped reporting"
	}
	if c.Message != "" {
		b.Message += ": " + c.Message
	}
	b.Since = c.LastTransitionTime
	b.Unblock = "repair the node, beginning with its kubelet, or delete the machine"
	return b, !c.LastTransitionTime.After(now)
}

// gone reports whether the machine says that its instance is gone.
func gone(m *Machine) bool {
	c := FindCondition(m.Status.Conditions, ConditionInstance)
	return c != nil && c.Status == fairlead.ConditionFalse && m.Spec.ProviderID != ""
}

// said returns the first condition of a machine that is not met, for a message.
func said(m *Machine) string {
	for _, c := range Reported(m) {
		if c.Message != "" || c.Reason != "" {
			return ": " + c.Type + ": " + strings.TrimSuffix(strings.TrimSpace(c.Reason+": "+c.Message), ":")
		}
	}
	return ""
}

// strangers returns the first nodes without a providerID.
func strangers(nodes []Node) (names []string) {
	for i := range nodes {
		if nodes[i].Spec.ProviderID == "" && len(names) < 3 {
			names = append(names, "node "+nodes[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

// NodeUnseen reports whether the node of a machine that is being deleted cannot be told from one that
// is gone, because no node at all is known, and that matters: nothing reported says that its drain is over or
// skipped, that its instance is gone, or that its controller has finished. What a deletion waits for is then not known.
func NodeUnseen(m *Machine, nodes []Node) bool {
	if len(nodes) > 0 || !m.Deleting() || m.Status.NodeRef == nil || m.DrainExcluded() || DrainReported(m) {
		return false
	}
	if f := m.Finalizers; len(f) > 0 && !slices.Contains(f, Finalizer) && !slices.Contains(f, FinalizerClusterAPI) {
		return false // its controller has let it go
	}
	c := FindCondition(m.Status.Conditions, ConditionInstance)
	return c == nil || c.Status != fairlead.ConditionFalse
}
