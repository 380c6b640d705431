package diagnosis

import (
	"cmp"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/cvo/rollout"
)

// How long is normal.
const (
	restartTime  = 30 * time.Minute // for a node to restart
	startTime    = 10 * time.Minute // for a pod to become ready
	machineTime  = 30 * time.Minute // for a machine to become a node
	instanceTime = 15 * time.Minute // for a cloud to delete an instance
	operatorTime = 30 * time.Minute // for an operator to be updated
	configTime   = 90 * time.Minute // for machine-config
	// unavailableTime is how long an operator may be unavailable while it is updated.
	unavailableTime = 20 * time.Minute
)

// nodesDown adds the nodes on which something is wrong, or that are being updated. Readiness,
// cordon and update are kept apart: a cordon alone is no fault here.
func (b *builder) nodesDown() {
	for i := range b.nodes {
		n := &b.nodes[i]
		b.draining[n.Name] = rollout.Draining(n)
		c := rollout.Against(n)
		if c != nil && c.Type == "Ready" {
			b.nodeDown(n, c)
			continue
		}
		if c != nil { // it is ready, and takes no new pods
			b.down[n.Name], b.closedBy[n.Name] = true, ID("Node", "", n.Name)+"#"+c.Type
		}
		switch {
		case rollout.Stuck(n):
			b.nodeDegraded(n)
		case b.draining[n.Name]:
			b.add(Node{Kind: "Node", Name: n.Name, State: Waiting, Reason: NodeDraining, Says: "node " + n.Name + " is being drained for the update", Sure: Seen, Owner: "machine-config operator"})
		case rollout.Updating(n):
			b.add(Node{Kind: "Node", Name: n.Name, State: Going, Reason: NodeUpdating, Says: "node " + n.Name + " is being updated", Sure: Seen, Owner: "machine-config operator"})
		}
		b.pressure(n)
		b.leftTaint(n)
		b.notStarted(n)
	}
}

// outOfService is the key of the taint that says that a node is off, and that its pods and volumes
// may be released.
const outOfService = "node.kubernetes.io/out-of-service"

// leftTaint adds a node that still has the taint of a state that is over: it is ready and was
// declared out of service, or it is not cordoned and has the taint of a cordon.
func (b *builder) leftTaint(n *fairlead.Node) {
	for i := range n.Spec.Taints {
		key, is := n.Spec.Taints[i].Key, ""
		switch {
		case key == outOfService:
			is = "ready"
		case key == unschedulableTaint && !n.Spec.Unschedulable:
			is = "not cordoned"
		default:
			continue
		}
		x := Node{ID: ID("Node", "", n.Name) + "#" + key, Kind: "Node", Name: n.Name, State: Faulty, Reason: NodeTaintLeft, Sure: Seen, Owner: "administrator"}
		x.Says = "node " + n.Name + " is " + is + ", and still has the taint " + key
		if !b.have[x.ID] {
			b.closedBy[n.Name] = b.add(x)
		}
	}
}

// nodeDown adds a node that is not ready, or against which a condition is.
func (b *builder) nodeDown(n *fairlead.Node, c *fairlead.NodeCondition) {
	x := Node{
		Kind: "Node", Name: n.Name, State: Faulty, Reason: NodeNotReady, Says: "node " + n.Name + " is not ready", Quote: c.Message,
		Since: c.LastTransitionTime, Sure: Seen, Owner: "administrator", Danger: n.ControlPlane(),
	}
	f := failure.Recognise(&failure.Sign{Kind: "Node", Name: n.Name, Type: c.Type, Reason: c.Reason, Message: c.Message})
	switch {
	case f != nil && f.Code == "KubeletSilent":
		x.is(f, "")
		x.Says = "node " + n.Name + " does not report"
	case f != nil:
		x.is(f, "node "+n.Name+" is not ready: ")
	}
	if rollout.Updating(n) && !b.draining[n.Name] && b.age(c.LastTransitionTime) < restartTime {
		x.State, x.Reason, x.Says, x.Danger = Going, NodeRestarting, "node "+n.Name+" restarts for the update", false
	}
	b.down[n.Name] = true
	b.add(x)
}

// nodeDegraded adds a node whose machine config daemon is stuck.
func (b *builder) nodeDegraded(n *fairlead.Node) {
	x, f := stuckNode(n.Name, n.Annotations[rollout.AnnotationReason])
	if f != nil && f.Code == "DrainFailed" {
		b.draining[n.Name] = true
		x = Node{
			Kind: "Node", Name: n.Name, State: Waiting, Reason: NodeDraining, Says: "node " + n.Name + " is being drained for the update, so far in vain",
			Quote: x.Quote, Sure: Seen, Owner: "administrator",
		}
	}
	b.add(x)
}

// stuckNode returns a node whose machine config daemon is stuck, for the reason that it gives, and the
// known failure in that.
func stuckNode(name, why string) (Node, *failure.Failure) {
	x := Node{Kind: "Node", Name: name, State: Faulty, Reason: NodeDegraded, Says: "node " + name + " cannot be updated", Quote: why, Sure: Seen, Owner: "administrator"}
	says := x.Says
	f := x.because(failure.Sign{Message: why}, 120)
	if x.Says == says {
		x.Says += ": its machine config daemon does not say why"
	}
	return x, f
}

// problems are the conditions that are true of a node that is short of something, or of which the node problem
// detector reports trouble that lasts (kubernetes/node-problem-detector config).
var problems = []string{
	"DiskPressure", "MemoryPressure", "PIDPressure", "NetworkUnavailable", "KernelDeadlock", "ReadonlyFilesystem", "XfsShutdown", "CorruptDockerOverlay2", "CperHardwareErrorFatal",
	"KubeletUnhealthy", "ContainerRuntimeUnhealthy", "FrequentKubeletRestart", "FrequentDockerRestart", "FrequentContainerdRestart", "FrequentUnregisterNetDevice",
}

// pressure adds what a node that is ready is short of, or what is wrong with it all the same.
func (b *builder) pressure(n *fairlead.Node) {
	for _, kind := range problems {
		c := n.Condition(kind)
		if c == nil || c.Status != fairlead.ConditionTrue {
			continue
		}
		x := Node{ID: ID("Node", "", n.Name) + "#" + kind, Kind: "Node", Name: n.Name, State: Faulty, Quote: c.Message, Since: c.LastTransitionTime, Sure: Seen, Owner: "administrator"}
		if f := failure.Recognise(&failure.Sign{Kind: "Node", Name: n.Name, Type: kind, Reason: cmp.Or(c.Reason, kind), Message: c.Message}); f != nil {
			x.is(f, "node "+n.Name+": ")
		} else {
			x.Reason, x.Says = kind, "node "+n.Name+" reports "+kind
			if said := failure.Telling(c.Message, 140); said != "" {
				x.Says += ": " + said
			}
		}
		b.add(x)
	}
}

// quorum says of control plane nodes that are down how many are left: etcd runs on them.
func (b *builder) quorum() {
	all, down := 0, 0
	for i := range b.nodes {
		if n := &b.nodes[i]; n.ControlPlane() {
			all++
			if b.down[n.Name] && !b.reports(n.Name) {
				down++
			}
		}
	}
	left := all - down
	if down == 0 || all < 3 {
		return
	}
	text := fmt.Sprintf("; %d of %d control plane nodes are left, and one more loss ends the quorum of etcd", left, all)
	switch {
	case left <= all/2:
		text = fmt.Sprintf("; %d of %d control plane nodes are left, and etcd needs %d: the API cannot write", left, all, all/2+1)
	case left-1 > all/2:
		return
	}
	for i := range b.g.Nodes {
		if n := &b.g.Nodes[i]; n.Kind == "Node" && n.Danger && b.down[n.Name] && n.State == Faulty {
			n.Says += text
		}
	}
}
