package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/taints/placement"
)

// troubles are taints that the cluster itself sets on nodes that are down or cordoned.
var troubles = []string{outOfService, "node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable", "node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure", "node.kubernetes.io/pid-pressure", "node.kubernetes.io/network-unavailable"}

// defaultScheduler is the scheduler of a pod that names none.
const defaultScheduler = "default-scheduler"

// passing reports whether a taint is set by the cluster itself, or only while a node starts.
func passing(t fairlead.Taint) bool {
	return slices.Contains(troubles, t.Key) || slices.ContainsFunc(starters(), func(s starter) bool { return s.taint == t.Key })
}

// takes reports whether a node takes new pods, as far as faults go.
func (b *builder) takes(n *fairlead.Node) bool { return !b.down[n.Name] }

// podPends adds a pod that waits for a node.
func (b *builder) podPends(p *fairlead.Pod, x Node) {
	name := p.ObjectMeta.String()
	if gates := p.Spec.SchedulingGates; len(gates) > 0 {
		x.Reason, x.Says, x.Owner = PodGated, "pod "+name+" gets no node before its scheduling gate "+gates[0].Name+" is removed", "owner of "+gates[0].Name
		x.Alike, x.do, x.command = gates[0].Name, "see why the owner of that gate has not removed it", shell.Command("kubectl -n %s get pod %s -o %s", p.Namespace, p.Name, "jsonpath={.spec.schedulingGates}")
		if x.Since = p.CreationTimestamp; !x.Since.IsZero() && b.age(x.Since) < startTime {
			x.State = Going
		}
		b.add(x)
		return
	}
	c := fairlead.FindCondition(p.Status.Conditions, "PodScheduled")
	if c == nil && !p.CreationTimestamp.IsZero() {
		x.Since = p.CreationTimestamp
	}
	if own := cmp.Or(p.Spec.SchedulerName, defaultScheduler); c == nil && own != defaultScheduler && b.age(p.CreationTimestamp) > startTime {
		x.State, x.Reason, x.Alike = Faulty, PodUnscheduled, own
		x.Says = "pod " + name + " has no node: its scheduler, " + own + ", has not looked at it"
		x.do, x.command = "see whether that scheduler runs: what it does shows as events", shell.Command("kubectl get events -A --field-selector %s", "reportingComponent="+own)
		b.add(x)
		return
	}
	if c != nil && c.Status != fairlead.ConditionTrue {
		x.Since, x.Quote = c.LastTransitionTime, c.Message
		f := failure.Recognise(&failure.Sign{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, Type: c.Type, Reason: c.Reason, Message: c.Message})
		if f != nil && !(f.Code == "VolumeElsewhere" && b.nodes != nil && b.shut(p) != "") { // else a node that is shut would take it
			x.is(f, "pod "+name+" has no node: ")
			x.Alike = workload(p)
			if volumeFailure(f) && b.volumesWait(p) {
				x.State = Waiting
			}
			if f.Code == "VolumeElsewhere" && b.nodes != nil {
				b.volumePlace(p, &x)
			}
			b.add(x)
			return
		}
	}
	if b.nodes == nil {
		x.State, x.Reason, x.Says = Waiting, PodNoNode, "pod "+name+" has no node"
		if said, _, _ := strings.Cut(x.Quote, " preemption:"); said != "" { // as kube-scheduler writes it
			x.State, x.Says = Faulty, x.Says+": "+strings.TrimRight(said, ". ")
			x.do, x.command = "let a node suit it, or change what it requires", shell.Command("kubectl -n %s describe pod %s", p.Namespace, p.Name)
		}
		b.add(x)
		return
	}
	b.nowhere(p, x, "pod "+name+" has no node")
}

// volumePlace says where the volume of a pod can be used.
func (b *builder) volumePlace(p *fairlead.Pod, x *Node) {
	for _, r := range b.wellPlaces().Where(p, nil).Rejections {
		if r.Filter == placement.VolumeBinding || r.Filter == placement.VolumeZone {
			x.Says = "pod " + p.ObjectMeta.String() + " has no node: " + r.Message
			return
		}
	}
}

// nowhere adds a pod that needs a node, and what keeps it from one; says begins its sentence.
func (b *builder) nowhere(p *fairlead.Pod, x Node, says string) {
	id := ID("Pod", p.Namespace, p.Name)
	if to, ok := b.places().First(p, b.takes); ok {
		x.State, x.Reason, x.Says = Going, PodScheduling, says+" yet, and fits on node "+to.Name
		if b.age(x.Since) > startTime {
			x.State, x.Reason, x.Says = Faulty, PodUnscheduled, says+", although it fits on node "+to.Name
		}
		b.add(x)
		return
	}
	wait := b.shut(p)
	if wait != "" {
		x.State, x.Reason, x.Says = Waiting, PodWaitsForNode, says+", and would fit on node "+wait
		b.add(x)
		b.wait(id, b.shutBy(wait), "FitsOn", Derived)
		return
	}
	if old := b.before.Node(id); old != nil && old.State == Faulty && slices.Contains(placeless, old.Reason) {
		x.State, x.Reason, x.Alike, x.Says = old.State, old.Reason, old.Alike, old.Says
		b.add(x)
		return
	}
	var filters []placement.Filter
	var why []string
	for _, r := range b.wellPlaces().Where(p, nil).Rejections {
		filters = append(filters, r.Filter)
		if r.Nodes == 1 {
			why = append(why, "node "+r.Node+": "+r.Message)
			continue
		}
		why = append(why, fmt.Sprintf("%d nodes %s%s", r.Nodes, unfit(r.Filter), example(&r)))
	}
	x.State, x.Reason, x.Alike = Faulty, PodNoRoom, workload(p)
	if len(filters) > 0 {
		x.Reason = noPlace(filters)
	}
	x.Says = says + ": " + cmp.Or(strings.Join(why, "; "), "there are no nodes")
	if device := b.unoffered(p); x.Reason == PodNoRoom && device != "" {
		x.Reason, x.Alike, x.Says = PodNoDevice, device, says+": it requests "+device+", which no node offers"
		x.do, x.command = "see whether the device plugin of "+device+" runs on the nodes that have such devices", "kubectl get pods -A -o wide | grep -i -e device-plugin -e gpu"
	}
	b.add(x)
}

// unoffered returns an extended resource that a pod requests and no node has, or "".
func (b *builder) unoffered(p *fairlead.Pod) string {
	asks, err := placement.Requests(p)
	if err != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(asks)) {
		if !strings.Contains(name, "/") {
			continue
		}
		if !slices.ContainsFunc(b.nodes, func(n fairlead.Node) bool { return cmp.Or(n.Status.Allocatable[name], "0") != "0" }) {
			return name
		}
	}
	return ""
}

// shut returns the node that is down or cordoned and would take a pod, or "": the first by name of
// those that are down and not being updated, or else of those that are being updated or are
// cordoned for no known reason, or else of those that are being drained.
func (b *builder) shut(p *fairlead.Pod) string {
	best, cost := "", 3
	for _, n := range b.shutNodes() {
		name, c := n.Name, 2
		switch {
		case b.down[name] && !rollout.Updating(n):
			c = 0
		case b.down[name], b.closedBy[name] != "", n.Spec.Unschedulable && !rollout.Away(n):
			c = 1
		}
		if p.Spec.NodeName == name {
			continue
		}
		if c < cost && b.wellPlaces().Fits(p, name) {
			best, cost = name, c
		}
	}
	return best
}

// shutNodes returns the nodes that are down, cordoned or out of service, by name.
func (b *builder) shutNodes() []*fairlead.Node {
	if b.closed == nil {
		b.closed = []*fairlead.Node{}
		for _, name := range b.index.nodes {
			if n := b.node(name); b.down[name] || n.Spec.Unschedulable && !b.chosen(name) || b.closedBy[name] != "" {
				b.closed = append(b.closed, n)
			}
		}
	}
	return b.closed
}

// shutBy returns the ID of what keeps new pods off a node.
func (b *builder) shutBy(node string) string {
	switch {
	case b.closedBy[node] != "":
		return b.closedBy[node]
	case b.down[node]:
		return ID("Node", "", node)
	}
	return b.cordon(b.node(node))
}

// example says, in parentheses, what a filter finds on the first of several nodes that it rejects.
func example(r *placement.Rejection) string {
	switch r.Filter {
	case placement.TopologySpread, placement.InterPodAffinity, placement.NodeUnschedulable:
		return ""
	}
	return " (" + r.Node + ": " + r.Message + ")"
}

// reasonOf returns the reason that stands for texts that begin with the names of filters.
func reasonOf(why []string) string {
	var filters []placement.Filter
	for _, w := range why {
		name, _, named := strings.Cut(w, ": ")
		if named {
			filters = append(filters, placement.Filter(name))
		}
	}
	if len(filters) == 0 {
		return PodNoRoom
	}
	return noPlace(filters)
}

// placeless are the reasons that noPlace returns.
var placeless = []string{PodNoRoom, PodNotTolerating, PodKeptApart, PodNoNode, PodPortTaken, PodVolumeBound}

// noPlace returns the reason that stands for filters: what can be changed first.
func noPlace(filters []placement.Filter) string {
	for _, want := range []placement.Filter{placement.NodeResources, placement.InterPodAffinity, placement.TopologySpread, placement.NodePorts, placement.TaintToleration} {
		if slices.Contains(filters, want) {
			switch want {
			case placement.NodeResources:
				return PodNoRoom
			case placement.TaintToleration:
				return PodNotTolerating
			case placement.NodePorts:
				return PodPortTaken
			}
			return PodKeptApart
		}
	}
	if slices.Contains(filters, placement.VolumeBinding) || slices.Contains(filters, placement.VolumeZone) {
		return PodVolumeBound
	}
	return PodNoNode
}

// unfit says what a filter means, of several nodes.
func unfit(f placement.Filter) string {
	switch f {
	case placement.NodeResources:
		return "lack room"
	case placement.TaintToleration:
		return "have taints that it does not tolerate"
	case placement.NodeAffinity:
		return "are not ones that it selects"
	case placement.NodePorts:
		return "have its port taken"
	case placement.TopologySpread:
		return "would make its pods too uneven"
	case placement.InterPodAffinity:
		return "are excluded by pod affinity or anti-affinity"
	case placement.NodeUnschedulable:
		return "are cordoned"
	}
	return "do not fit"
}
