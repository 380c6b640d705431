package rollout

import (
	"strings"

	"github.com/fairlead/fairlead"
)

// Ready reports whether a node takes pods: it is not cordoned, and no condition
// is against it. Missing conditions do not count.
func Ready(n *Node) bool { return unready(n) == "" }

// cordoned is why a cordoned node takes no pods.
const cordoned = "it is cordoned"

// Against returns the condition because of which a node takes no pods, nil if
// there is none: Ready first, then DiskPressure, then NetworkUnavailable. It
// points into the node.
func Against(n *Node) *fairlead.NodeCondition {
	for _, kind := range [...]string{"Ready", "DiskPressure", "NetworkUnavailable"} {
		well := fairlead.ConditionFalse
		if kind == "Ready" {
			well = fairlead.ConditionTrue
		}
		if c := n.Condition(kind); c != nil && c.Status != well {
			return c
		}
	}
	return nil
}

// unready returns why a node takes no pods, or "".
func unready(n *Node) string {
	c := Against(n)
	switch {
	case n.Spec.Unschedulable:
		return cordoned
	case c == nil:
		return ""
	case c.Type == "Ready":
		return "it is not ready"
	case c.Type == "DiskPressure":
		return "its disk is full"
	}
	return "it has no network"
}

// Done reports whether a node runs its desired configuration.
func Done(n *Node) bool {
	a := n.Annotations
	image, told := a[AnnotationCurrentImage]
	desired, wanted := a[AnnotationDesiredImage]
	return a[AnnotationCurrent] != "" && a[AnnotationCurrent] == a[AnnotationDesired] &&
		told == wanted && image == desired && a[AnnotationState] == StateDone
}

// moves reports whether a node was told to run another configuration than it runs.
func moves(n *Node) bool {
	a := n.Annotations
	return a[AnnotationCurrent] != a[AnnotationDesired] || a[AnnotationCurrentImage] != a[AnnotationDesiredImage]
}

// Updating reports whether a node is between two configurations: it was told to run another one than
// it runs, or its agent works on one, or is stuck in that. An agent that does not say how it is, is
// not at work.
func Updating(n *Node) bool {
	state := n.Annotations[AnnotationState]
	return moves(n) || state != "" && state != StateDone
}

// Away reports whether a node is out of service for an update, or about to be: it is [Updating], or
// was to be drained and is not yet to be uncordoned. The cordon of another node is somebody else's.
func Away(n *Node) bool {
	return Updating(n) || strings.HasPrefix(n.Annotations[AnnotationDesiredDrain], wishDrain)
}

// Stuck reports whether the agent of a node says that it cannot go on.
func Stuck(n *Node) bool {
	state := n.Annotations[AnnotationState]
	return state == StateDegraded || state == StateUnreconcilable
}

// Failing reports whether a node was told to run a new configuration and failed.
func Failing(n *Node) bool { return moves(n) && Stuck(n) }

// Unavailable reports whether a node counts against the pool's budget: it takes
// no pods, for any reason, or it is being updated to another configuration.
func Unavailable(n *Node) bool { return !Ready(n) || !Done(n) && !Failing(n) }

// takesRoom reports whether a node counts against the budget before it is
// started: a node that takes pods and has no desired configuration does not, or
// it would wait for itself.
func takesRoom(n *Node) bool {
	return Unavailable(n) && (n.Annotations[AnnotationDesired] != "" || !Ready(n))
}

// targets reports whether a node was told to run the pool's configuration.
func targets(p *Pool, n *Node) bool {
	return n.Annotations[AnnotationDesired] == p.Spec.Configuration.Name &&
		n.Annotations[AnnotationDesiredImage] == p.Spec.Configuration.Image
}

// Updated reports whether a node runs its pool's configuration.
func Updated(p *Pool, n *Node) bool { return targets(p, n) && Done(n) }

// tainted reports whether a node has the taint of waiting nodes.
func tainted(n *Node) bool {
	for _, t := range n.Spec.Taints {
		if t.Key == TaintUpdate && t.Effect == fairlead.PreferNoSchedule {
			return true
		}
	}
	return false
}
