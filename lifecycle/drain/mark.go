package drain

import (
	"slices"
	"time"
)

// Mark is an annotation by which an autoscaler leaves a pod or node alone. A drain does
// not look at it.
type Mark struct {
	Key   string `json:"key"`   // of the annotation
	Value string `json:"value"` // of the annotation
	Text  string `json:"text"`  // what it means, and to whom
}

// known is an annotation that is a mark if it has a value; empty stands for any.
type known struct{ key, value, text string }

// doNotDisrupt is Karpenter's mark, untilTime the time on a node at which its patience ends, and
// karpenterFinalizer what its nodes have.
const (
	doNotDisrupt       = "karpenter.sh/do-not-disrupt"
	untilTime          = "karpenter.sh/nodeclaim-termination-timestamp"
	karpenterFinalizer = "karpenter.sh/termination"
)

var marksOfPods = []known{
	{doNotDisrupt, "true", "Karpenter does not remove a node while this pod runs there; a drain evicts it all the same"},
	{"karpenter.sh/do-not-evict", "true", "older versions of Karpenter do not remove a node while this pod runs there; a drain evicts it all the same"},
	{"cluster-autoscaler.kubernetes.io/safe-to-evict", "false", "the cluster autoscaler does not remove a node while this pod runs there; a drain evicts it all the same"},
}

var marksOfNodes = []known{
	{doNotDisrupt, "true", "Karpenter does not remove this node by itself"},
	{untilTime, "", "until then Karpenter waits for the pods; what is left is deleted, whatever its budgets allow"},
	{"karpenter.sh/do-not-consolidate", "true", "older versions of Karpenter do not consolidate this node"},
	{"cluster-autoscaler.kubernetes.io/scale-down-disabled", "true", "the cluster autoscaler does not remove this node"},
}

// marks returns the marks among annotations, in the order of the list.
func marks(annotations map[string]string, list []known) []Mark {
	var all []Mark
	for _, k := range list {
		if v, is := annotations[k.key]; is && (k.value == "" || v == k.value) {
			all = append(all, Mark{k.key, v, k.text})
		}
	}
	return all
}

func nodeMarks(n *Node) []Mark { return marks(n.Annotations, marksOfNodes) }

// podMarks returns the marks of a pod of a node.
func podMarks(n *Node, p *Pod) []Mark {
	all := marks(p.Annotations, marksOfPods)
	for i := range all {
		if m := &all[i]; m.Key == doNotDisrupt && KarpenterDrains(n) {
			m.Text = "Karpenter, which is removing the node, does not evict this pod, and waits until it has ended"
			if at := n.Annotations[untilTime]; at != "" {
				m.Text += ", or until " + at
			}
			m.Text += "; a drain evicts it all the same"
		}
	}
	return all
}

// KarpenterDrains reports whether Karpenter is removing a node: the node is being deleted, and
// has the finalizer for which Karpenter drains it first. Karpenter evicts pods as [Pods] does, but
// for those that it must not disrupt: it waits until they have ended, or until the time in the
// node's annotation karpenter.sh/nodeclaim-termination-timestamp
// (pkg/utils/pod/scheduling.go of kubernetes-sigs/karpenter, read at 098a2085).
func KarpenterDrains(n *Node) bool {
	return n.DeletionTimestamp != nil && slices.Contains(n.Finalizers, karpenterFinalizer)
}

// KarpenterWaits reports whether Karpenter does not evict a pod from a node that it removes, and
// until when it waits for it: zero means without a limit.
func KarpenterWaits(n *Node, p *Pod) (until time.Time, waits bool) {
	if !KarpenterDrains(n) || p.Annotations[doNotDisrupt] != "true" || p.Finished() || p.DeletionTimestamp != nil {
		return time.Time{}, false
	}
	until, _ = time.Parse(time.RFC3339, n.Annotations[untilTime])
	return until, true
}
