package rollout

import (
	"fmt"
	"strings"
	"time"
)

// NodeStage is the progress of a node's update.
type NodeStage string

// The stages, in their order.
const (
	StageNone     NodeStage = ""         // it is not being updated
	StageCordon   NodeStage = "Cordon"   // its desired configuration is set; it must be cordoned
	StageDrain    NodeStage = "Drain"    // its pods must be evicted
	StageUpdate   NodeStage = "Update"   // it must be changed and rebooted
	StageDegraded NodeStage = "Degraded" // the change failed
	StageUncordon NodeStage = "Uncordon" // it runs its desired configuration; it must be uncordoned
)

// The prefixes of AnnotationDesiredDrain.
const (
	wishDrain    = "drain-"
	wishUncordon = "uncordon-"
)

// Stage returns the stage of a node, by what it reports. A node that was
// cordoned by somebody else is not being updated.
func Stage(n *Node) NodeStage {
	a, moves := n.Annotations, moves(n)
	wish := wishDrain + a[AnnotationDesired]
	switch {
	case a[AnnotationDesired] == "":
		return StageNone // it has no desired configuration yet
	case moves && Stuck(n):
		return StageDegraded
	case n.Spec.Unschedulable && moves && Draining(n):
		return StageDrain // even while the reference's agent says Working
	case moves && a[AnnotationState] == StateWorking:
		return StageUpdate
	case moves && !n.Spec.Unschedulable:
		return StageCordon
	case moves && (a[AnnotationDesiredDrain] != wish || a[AnnotationLastDrain] != wish):
		return StageDrain
	case moves:
		return StageUpdate
	case a[AnnotationState] == StateWorking:
		return StageUpdate
	case n.Spec.Unschedulable && strings.HasPrefix(a[AnnotationDesiredDrain], wishDrain) && Done(n):
		return StageUncordon
	}
	return StageNone
}

// advance takes each node that is being updated one stage further.
func (s *stepper) advance() {
	room := s.room()
	s.empty()
	for _, b := range s.state.Begun {
		n := s.nodes[b.Node]
		switch Stage(n) {
		case StageNone:
			s.untold(b, n, &room)
		case StageCordon:
			a := Cordon{Node: n.Name, Revision: n.ResourceVersion}
			s.do(a)
			s.block("node "+n.Name, ReasonCordon, "it is being cordoned", "", "wait until it is unschedulable", a)
		case StageDrain:
			s.drain(n)
		case StageUpdate:
			s.update(n)
		case StageDegraded:
			s.degraded(n)
			s.retarget(n)
		case StageUncordon:
			a := Uncordon{Node: n.Name, Revision: n.ResourceVersion, Wish: wishUncordon + n.Annotations[AnnotationDesired]}
			s.do(a)
			s.block("node "+n.Name, ReasonUncordon, "it runs "+n.Annotations[AnnotationCurrent]+" and is being uncordoned", "", "wait until it is schedulable", a)
		}
	}
}

// retarget gives a failed node the pool's current configuration. It is already
// down, and so takes no additional room.
func (s *stepper) retarget(n *Node) {
	if to := s.Pool.Spec.Configuration; to.Name != "" && !targets(&s.Pool, n) && !s.Pool.Spec.Paused && !s.Build.awaited(&s.Pool) {
		s.state.find(n.Name).Configuration = to
		s.do(Begin{Node: n.Name, Revision: n.ResourceVersion, Configuration: to})
	}
}

// room returns how many of the selected nodes may be told now: the budget may
// have become smaller since, or others may be down.
func (s *stepper) room() int {
	most, err := MaxUnavailable(&s.Pool, len(s.Nodes))
	if err != nil {
		return 0
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		b := s.state.find(n.Name)
		if takesRoom(n) || b != nil && b.Told || targets(&s.Pool, n) && Failing(n) {
			most--
		}
	}
	return most
}

// untold handles a selected node that is not being updated: it has not been
// told yet, or it is updated and takes no pods.
func (s *stepper) untold(b Begun, n *Node, room *int) {
	subject := "node " + n.Name
	switch why := unready(n); {
	case b.Told:
		s.block(subject, ReasonUncordon, "it runs "+b.Configuration.Name+", and takes no pods: "+why, "", "make it ready and schedulable again")
	case why != "":
		s.block(subject, ReasonHeld, "it was selected for the update, which does not start while the node takes no pods: "+why, "", "make it ready and schedulable again")
	case s.Pool.Spec.Paused:
		s.block(subject, ReasonPaused, "it was selected for the update, but the pool is paused", "whoever paused it", "set spec.paused to false")
	case *room <= 0:
		s.block(subject, ReasonBudget, "it was selected for the update, but as many nodes are already down as spec.maxUnavailable allows", "", "wait until one of them is back, or raise spec.maxUnavailable")
	case s.Build.awaited(&s.Pool):
		s.block(subject, ReasonBuild, "it was selected for the update, but "+s.Build.String(), "", "wait until the image is built and spec.configuration.image names it")
	case len(s.peersUnready()) > 0:
		s.block(subject, ReasonPeers, "it was selected for the update, but "+waitFor(s.peersUnready()), "", "wait until those nodes are updated and take pods")
	case s.Pool.Spec.Configuration.Name != "":
		*room--
		s.state.find(n.Name).Configuration = s.Pool.Spec.Configuration
		s.tell(n, s.Pool.Spec.Configuration)
	}
}

func (s *stepper) update(n *Node) {
	a := Update{Node: n.Name, Revision: n.ResourceVersion}
	if n.Annotations[AnnotationState] != StateWorking {
		s.do(a)
	}
	s.slow("node "+n.Name, ReasonUpdating, "it is being changed to "+n.Annotations[AnnotationDesired]+" and rebooted", s.policy.SlowUpdate,
		"whoever runs the node", "wait until its annotation "+AnnotationState+" says "+StateDone, a)
}

// slow blocks, and says so if it takes longer than normal.
func (s *stepper) slow(subject, reason, message string, normal time.Duration, owner, unblock string, under Action) {
	since := s.block(subject, reason, message, owner, unblock, under)
	if end := since.Add(normal); s.now.Before(end) {
		s.At(end)
		return
	}
	all := s.Blocked()
	all[len(all)-1].Message += fmt.Sprintf(", which is slow: %s is normal", normal)
}
