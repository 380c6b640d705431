package taints

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

// Advice is what an administrator must know about a taint that keeps a pod off a
// node: why it is there, since when, who owns it, and what to do. It never
// advises tolerating a taint that stands for a problem of the node, or for
// maintenance: that would place pods where they cannot run.
type Advice struct {
	// Cause is why the taint is there, as far as the node shows.
	Cause string `json:"cause"`
	// Since is when it was added; nil if that is unknown.
	Since *time.Time `json:"since,omitempty"`
	// Owner is who adds and removes the taint.
	Owner string `json:"owner"`
	// WayOut is what to do, or what to wait for.
	WayOut string `json:"wayOut"`
}

// knownTaint is a taint that the control plane or a well-known controller sets.
type knownTaint struct {
	key       string
	condition string // the type of the node condition that it follows; empty if it follows none
	cause     string
	owner     string
	wayOut    string // NODE stands for the node's name, and COMMAND for what commandOn returns
}

const nodeController = "the node lifecycle controller, by the node's conditions"

// knownTaints are recognized by their keys.
var knownTaints = []knownTaint{
	{
		KeyUnschedulable, "", "the node is cordoned: somebody is working on it, or draining it", "whoever cordoned it (kubectl cordon, a drain, an autoscaler)",
		"when that work is done: COMMAND",
	},
	{
		KeyNotReady, nodeReady, "the node reports that it is not ready", nodeController,
		"repair the node, beginning with its kubelet (COMMAND); the taint is removed when it is ready",
	},
	{
		KeyUnreachable, nodeReady, "the node has stopped reporting", nodeController,
		"bring the node back; or make sure that it is powered off, and only then mark it as fenced: COMMAND",
	},
	{
		KeyMemoryPressure, "MemoryPressure", "the node is short of memory", nodeController,
		"free memory on the node: move pods away, or make them use less; the taint is removed when the node reports enough",
	},
	{
		KeyDiskPressure, "DiskPressure", "the node is short of disk space", nodeController,
		"free disk space on the node: unused images, logs, volumes of type emptyDir; the taint is removed when the node reports enough",
	},
	{
		KeyPIDPressure, "PIDPressure", "the node is running out of process IDs", nodeController,
		"stop whatever started so many processes on the node; the taint is removed when the node reports enough",
	},
	{
		KeyNetworkUnavailable, "NetworkUnavailable", "the network of the node is not set up", nodeController,
		"find out why the network plugin or the cloud's routes are not up on NODE; the taint is removed when they are",
	},
	{
		KeyOutOfService, "", "somebody has declared the node dead: its pods are deleted by force", "whoever added it manually",
		"when the node is repaired and running again: COMMAND",
	},
	{
		KeyUninitialized, "", "the cloud controller manager has not initialized the node yet", "the cloud controller manager",
		"wait for it; if it takes long, it does not run, or does not know the node: look at its pods and their logs",
	},
	{
		KeyShutdown, "", "the cloud provider reports that the machine is shut down", "the cloud controller manager",
		"start the machine, or delete the node; the taint is removed when the machine runs",
	},
	{
		KeyMaster, "", "the node is reserved for the control plane", "the installation of the cluster",
		"let the pod run on other nodes: only what belongs to the control plane should tolerate it",
	},
	{
		KeyControlPlane, "", "the node is reserved for the control plane", "the installation of the cluster",
		"let the pod run on other nodes: only what belongs to the control plane should tolerate it",
	},
	{
		KeyMachineUninitialized, "", "the node does not have the labels of its machine yet", "Cluster API",
		"wait for it; if it takes long, look at the conditions of the node's Machine",
	},
	{
		KeyOutdatedRevision, "", "the machine of the node is of an old revision and will be replaced", "Cluster API",
		"wait for the rollout of its MachineDeployment: nodes of the new revision are preferred",
	},
	{
		"ToBeDeletedByClusterAutoscaler", "", "the node is about to be removed because it is not needed", "the cluster autoscaler",
		"let the pod run on other nodes; the autoscaler adds one if there is no room",
	},
	{
		"DeletionCandidateOfClusterAutoscaler", "", "the node is little used, and may be removed", "the cluster autoscaler",
		"nothing: the taint is removed when the node is used more",
	},
	{
		"karpenter.sh/disrupted", "", "the node is being replaced or removed", "Karpenter",
		"let the pod run on other nodes; Karpenter adds one if there is no room",
	},
	{
		"karpenter.sh/unregistered", "", "the node has not been registered yet", "Karpenter",
		"wait for it; if it takes long, look at the conditions of the node's NodeClaim",
	},
	{
		"UpdateInProgress", "", "the node is about to get a new configuration", "the machine config operator",
		"wait for the update of its pool: kubectl get machineconfigpools",
	},
}

// startupSuffix ends the keys of taints with which nodes begin until an agent runs there.
const startupSuffix = "/agent-not-ready"

// startup says what a taint for the time before an agent runs means, or returns nil.
func startup(key string) *knownTaint {
	agent, is := strings.CutSuffix(key, startupSuffix)
	if !is || agent == "" {
		return nil
	}
	return &knownTaint{
		key: key, cause: "the agent " + agent + " does not run on the node yet", owner: agent + ", when its pod on the node is ready",
		wayOut: "look at its pod there: COMMAND; the taint is removed when that is ready",
	}
}

// commandOn returns the command that helps with a known taint, or "".
func commandOn(key, node string) string {
	switch key {
	case KeyUnschedulable:
		return shell.Command("kubectl uncordon %s", node)
	case KeyNotReady:
		return shell.Command("kubectl describe node %s", node)
	case KeyUnreachable:
		return shell.Command("kubectl taint node %s "+KeyOutOfService+"=nodeshutdown:NoExecute", node)
	case KeyOutOfService:
		return shell.Command("kubectl taint node %s "+KeyOutOfService+"-", node)
	}
	if startup(key) != nil {
		return shell.Command("kubectl get pods -A --field-selector spec.nodeName=%s", node)
	}
	return ""
}

// knownTaintOf returns what is known of a key, or nil.
func knownTaintOf(key string) *knownTaint {
	for i := range knownTaints {
		if knownTaints[i].key == key {
			return &knownTaints[i]
		}
	}
	return startup(key)
}

// adviceOn says what to do about a taint. It advises a toleration only if that is
// what the taint is for, see fixable.
func adviceOn(t *fairlead.Taint, fix *fairlead.Toleration, n *fairlead.Node, redact bool) Advice {
	if t.Key == "" || consequence(t.Effect) == harmless {
		return Advice{Cause: "the API does not accept this taint", Owner: "whoever wrote it", WayOut: "correct the taints of node " + n.Name}
	}
	k := knownTaintOf(t.Key)
	if k == nil {
		a := Advice{Cause: "the node is reserved for pods that tolerate it", Owner: "whoever put it there", Since: t.TimeAdded}
		switch t.Effect {
		case fairlead.NoExecute:
			a.Cause = "the node is being emptied, or is reserved for pods that tolerate it"
		case fairlead.PreferNoSchedule:
			a.Cause = "the node is meant for pods that tolerate it; others go there only if no other node fits"
		}
		a.WayOut = fmt.Sprintf("if the pod belongs there, add %s to it; if the taint does not, %s", fix, shell.Command("kubectl taint node %s %s-", n.Name, t.String()))
		return a
	}
	a := Advice{Cause: k.cause, Owner: k.owner, Since: t.TimeAdded, WayOut: strings.NewReplacer("COMMAND", commandOn(t.Key, n.Name), "NODE", n.Name).Replace(k.wayOut)}
	fenced := slices.ContainsFunc(n.Spec.Taints, func(o fairlead.Taint) bool { return o.Key == KeyOutOfService })
	ready := n.Condition(nodeReady)
	switch {
	case t.Key == KeyUnschedulable && !n.Spec.Unschedulable:
		a.Cause, a.Owner = "the node is not cordoned, so the taint was left behind", nodeController
		a.WayOut = "remove it: " + shell.Command("kubectl taint node %s "+KeyUnschedulable+"-", n.Name)
	case t.Key == KeyUnreachable && fenced:
		a.WayOut = "it is marked as fenced already: wait until its pods are deleted and its volumes are detached; repair the node"
	case t.Key == KeyOutOfService && ready != nil && ready.Status == fairlead.ConditionTrue:
		a.Cause += "; but the node is ready again, so the taint was forgotten"
		a.WayOut = "remove it: " + commandOn(t.Key, n.Name)
	}
	c := n.Condition(k.condition)
	if c == nil {
		return a
	}
	if !c.LastTransitionTime.IsZero() {
		a.Since = &c.LastTransitionTime
	}
	switch {
	case t.Key == KeyUnreachable && !c.LastHeartbeatTime.IsZero():
		a.Since = &c.LastHeartbeatTime // it has not reported since then
	case c.Message != "" && c.Status != fairlead.ConditionUnknown && !redact:
		a.Cause += ": " + firstLine(c.Message)
	}
	return a
}

// fixable reports whether adding a toleration is a fix: not for taints that stand
// for a problem of the node or for maintenance.
func fixable(t *fairlead.Taint) bool {
	return t.Key != "" && knownTaintOf(t.Key) == nil && consequence(t.Effect) != harmless
}

// firstLine returns the first line of a text, shortened if it is long.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return words.Clip(line, 80)
}

// text returns the advice as lines: the cause with its time and owner, and what
// to do.
func (a *Advice) text(now time.Time) words.Text {
	s := "cause: " + a.Cause
	if a.Since != nil {
		s += ", since " + a.Since.UTC().Format(time.RFC3339)
		if d := now.Sub(*a.Since).Round(time.Second); !now.IsZero() && d > 0 {
			s += " (" + words.Span(d) + ")"
		}
	}
	return words.Text(words.Sprintf("%s; owner: %s\n    what to do: %s", s, a.Owner, a.WayOut))
}
