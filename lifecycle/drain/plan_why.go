package drain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints/placement"
)

// overdue is how long after its grace period a pod may need to end.
const overdue = time.Minute

// strands reports whether a pod that is left alone stays on a dead node forever: it
// should have ended, and nobody says that it has.
func (s *sighting) strands() bool {
	return s.pod.DeletionTimestamp != nil && s.found&foundTerminating != 0 && s.found&(foundDaemonSet|foundMirror) == 0
}

// outOfService reports whether a node has the taint after which its pods are deleted by
// force.
func outOfService(n *Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return t.Key == OutOfServiceTaint })
}

// forced returns the taint by which a silent node loses its pods without evictions, or nil.
func forced(n *Node) *fairlead.Taint {
	for i := range n.Spec.Taints {
		if t := &n.Spec.Taints[i]; t.Key == OutOfServiceTaint && t.Effect == fairlead.NoExecute && Unreachable(n) {
			return t
		}
	}
	return nil
}

// dropped reports whether a pod of a node goes without an eviction, whatever its budgets say.
func (d *draining) dropped(l *leftPod) bool {
	return d.force != nil && object.FirstMatch(l.pod.Spec.Tolerations, d.force, false) < 0
}

// ends reports whether a pod that is being deleted ends.
func (p *planner) ends(d *draining, l *leftPod) bool {
	return p.endsOn(l.pod, d.dead)
}

// endsOn reports whether a pod that is being deleted ends on a node that is dead, or is not.
func (p *planner) endsOn(pod *Pod, dead bool) bool {
	return !dead && len(pod.Finalizers) == 0 && p.now.Sub(*pod.DeletionTimestamp) <= overdue
}

// ended counts a pod that was being deleted and has ended. A StatefulSet replaces it
// only then; others have done so.
func (p *planner) ended(d *draining, l *leftPod) {
	if p.rooms == nil {
		return
	}
	if c := l.pod.ControllerOf(); c != nil && c.Kind == "StatefulSet" {
		p.left = append(p.left, &leaver{pod: l.pod, at: l.at, budgets: p.budgets(l.at), node: d.node, plan: l.plan})
		return
	}
	p.rooms.remove(l.pod)
}

// blame notes why a pod is left.
func (p *planner) blame(d *draining, l *leftPod) {
	to := &d.node.Pods[l.plan]
	switch {
	case d.dead && (l.evicted || l.pod.DeletionTimestamp != nil):
		to.Why, to.Owner = ReasonPodStranded, "kubelet"
		return
	case l.pod.DeletionTimestamp != nil:
		p.blameTerminating(to, l.pod)
		return
	case l.order != d.left[0].order:
		to.Why, to.Detail = ReasonLaterOrder, fmt.Sprintf("it has order %d, and pods before it are stuck", l.order)
		return
	case l.fate == FateRefuse:
		to.Why, to.Owner = ReasonPodProtected, controllerName(l.pod)
		if l.found&foundNoUID != 0 {
			to.Why = ReasonPodInvalid
		}
		return
	}
	first := &p.disruptions.budgets[l.budgets[0]]
	verdict := p.disruptions.verdict(l.pod, l.budgets)
	to.Why, to.Owner = refusal(l.pod, first, verdict), budgetTitle+first.ObjectMeta.String()
	for _, at := range l.budgets {
		to.Budgets = append(to.Budgets, p.disruptions.budgets[at].ObjectMeta.String())
	}
	if to.Why == ReasonBudgetUnhealthy && d.node.Unreachable {
		to.Why = ReasonBudgetNodeSilent
	}
	switch s := &first.Status; to.Why {
	case ReasonBudgetSyncFailed:
		to.Detail = s.SyncFailed()
	case ReasonManyBudgets, ReasonBudgetUnobserved:
	default:
		to.Detail = fmt.Sprintf("it needs %s and has %d, of %d expected", words.Count(s.DesiredHealthy, "healthy pod", "healthy pods"), s.CurrentHealthy, s.ExpectedPods)
		to.Needs = object.MoreHealthy(l.pod, first)
		if to.Why == ReasonBudgetNever {
			to.Needs = first.MoreReplicas(s.ExpectedPods)
		}
		if c := l.pod.ControllerOf(); c != nil && !scalable[c.Kind] {
			to.Controller = c.Kind + " " + c.Name
		}
	}
}

// scalable are the kinds that replace pods by a number that people choose.
var scalable = map[string]bool{"ReplicaSet": true, "StatefulSet": true, "ReplicationController": true, "Job": true, "DaemonSet": true}

// byController says what helps if a pod's own controller has to let it go.
func (p *PodPlan) byController() string {
	kind, name, _ := strings.Cut(p.Controller, " ")
	do, command := letGo(kind, p.Namespace, name)
	return do + ": " + command
}

// LetGo returns what helps, and a command, if a pod is guarded by a budget and its controller decides
// itself when the pod may go, so that neither more replicas nor another budget do: a virtual machine
// moves, storage detaches. It returns "" for pods of other controllers, and of none.
func LetGo(p *Pod) (do, command string) {
	c := p.ControllerOf()
	if c == nil || scalable[c.Kind] {
		return "", ""
	}
	return letGo(c.Kind, p.Namespace, c.Name)
}

func letGo(kind, namespace, name string) (do, command string) {
	switch kind {
	case "VirtualMachineInstance":
		return "move its virtual machine, or shut that down; do not change the budget, which KubeVirt keeps until then", shell.Command("virtctl -n %s migrate %s", namespace, name)
	case "InstanceManager":
		return "let the other pods go first, and do not change the budget: Longhorn removes it once no volume is attached to the node", shell.Command("kubectl -n %s get volumes.longhorn.io", namespace)
	}
	return "see what its " + kind + " " + name + " reports before you change the budget: that decides when the pod may go", shell.Command("kubectl -n %s describe %s %s", namespace, strings.ToLower(kind), name)
}

// blameTerminating notes why a pod that is being deleted does not end.
func (p *planner) blameTerminating(to *PodPlan, pod *Pod) {
	to.Why, to.Owner = ReasonPodTerminating, "kubelet"
	late := p.now.Sub(*pod.DeletionTimestamp)
	switch {
	case len(pod.Finalizers) > 0:
		to.Owner = pod.Finalizers[0]
		to.Detail = "finalizer " + strings.Join(pod.Finalizers, ", ") + " keeps it"
		if late > 0 {
			to.Detail += fmt.Sprintf(", %v after its grace period", late.Round(time.Second))
		}
	default:
		to.Detail = fmt.Sprintf("its grace period is over for %v, and its node does not report that it has ended", late.Round(time.Second))
	}
}

// Block says why a pod keeps its node from being drained, or has no other node while
// it is drained; ok is false if neither is so. node is the name of the node.
func (p *PodPlan) Block(node string) (b fairlead.Block, ok bool) {
	name := p.Namespace + "/" + p.Name
	switch {
	case p.Why != "":
		w := fairlead.Block{Subject: "node " + node, Reason: p.Why, Name: name, Owner: p.Owner, Detail: p.Detail}
		if len(p.Budgets) > 0 && p.Detail != "" {
			w.Detail = budgetTitle + strings.Join(p.Budgets, ", ") + ": " + p.Detail
		}
		b = Words(w)
		more := "make " + words.Count(p.Needs, "more pod", "more pods") + " of the budget healthy"
		switch {
		case p.Controller != "" && (p.Why == ReasonBudgetNever || p.Why == ReasonBudgetSpent):
			b.Unblock = p.byController()
		case p.Why == ReasonBudgetNever && p.Needs == 0:
			b.Unblock = "lower minAvailable or raise maxUnavailable of the budget: more replicas do not help"
		case p.Why == ReasonBudgetNever:
			b.Unblock = "run " + words.Count(p.Needs, "more replica", "more replicas") + ", or lower minAvailable or raise maxUnavailable of the budget"
		case p.Why == ReasonBudgetSpent && p.Needs > 0:
			b.Unblock = more + ", or change the budget to allow more disruptions"
		case p.Why == ReasonBudgetUnhealthy && p.Needs > 0:
			b.Unblock = more + ", this one or another; or allow the eviction of pods that are not ready: " + alwaysAllow(&w)
		}
		return b, true
	case p.NoRoom != nil:
		return fairlead.Block{
			Subject: "node " + node, Reason: ReasonNoRoom,
			Message: "pod " + name + " has no other node: it stays Pending while the node is out of service (" + strings.Join(p.NoRoom, ", ") + ")",
			Unblock: p.makesRoom(),
		}, true
	}
	return b, false
}

// makesRoom says what would give a pod without another node one, by the filter that rejects
// most nodes.
func (p *PodPlan) makesRoom() string {
	switch p.rejects {
	case placement.NodeUnschedulable:
		return "uncordon a node on which it fits, or add one"
	case placement.VolumeBinding, placement.VolumeZone:
		return "it runs again when its node is back; for another one, its data must be on a volume which that one can use: add a node in the same place, or restore a backup elsewhere"
	case placement.VolumeLimits:
		return "add a node that can have its volumes"
	case placement.NodeAffinity:
		return "add a node with the labels that it selects, or change its nodeSelector or node affinity"
	case placement.NodePorts:
		return "add a node on which its host ports are free"
	case placement.InterPodAffinity, placement.TopologySpread:
		return "add a node on which it fits, or make its pod affinity or spread preferred instead of required"
	}
	return "add a node on which it fits, or lower what it requests or requires"
}

// Blocks says, for each pod that keeps its node from being drained or has no other
// node, why, in the order of the plan.
func (p *Plan) Blocks() []fairlead.Block {
	var all []fairlead.Block
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for j := range n.Pods {
			if b, ok := n.Pods[j].Block(n.Node); ok {
				all = append(all, b)
			}
		}
	}
	return all
}
