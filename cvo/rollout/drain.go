package rollout

import (
	"strings"

	"github.com/fairlead/fairlead/lifecycle/drain"
)

// NodePods is what is known about the pods of a node to be drained.
type NodePods struct {
	Name string `json:"name"` // the node's
	// View is what the drain decides on. Its Node and Outcomes are those of the
	// World that this is part of.
	drain.View
}

// Draining reports whether a drain of the node was requested and is not reported as
// done.
func Draining(n *Node) bool {
	wish := n.Annotations[AnnotationDesiredDrain]
	return strings.HasPrefix(wish, wishDrain) && n.Annotations[AnnotationLastDrain] != wish
}

// drain requests that the pods of a node be evicted, and evicts them if World has
// them.
func (s *stepper) drain(n *Node) {
	wish := wishDrain + n.Annotations[AnnotationDesired]
	a := Drain{Node: n.Name, Revision: n.ResourceVersion, Wish: wish}
	if n.Annotations[AnnotationDesiredDrain] != wish {
		s.do(a)
	}
	d, ours := s.drains[n.Name]
	if !ours {
		s.slow("node "+n.Name, ReasonDraining, "its pods are being moved away", s.policy.SlowDrain,
			"whoever drains nodes", "wait until its annotation "+AnnotationLastDrain+" says "+wish+"; what mostly delays that is a disruption budget that allows no eviction", a)
		return
	}
	for _, x := range d.Actions {
		s.actions = append(s.actions, x)
	}
	if d.Done {
		done := Drained{Node: n.Name, Revision: n.ResourceVersion, Wish: wish}
		s.do(done)
		s.block("node "+n.Name, ReasonDraining, "its pods are gone, and that is being noted", "", "wait until its annotation "+AnnotationLastDrain+" says "+wish, done)
		return
	}
	s.slow("node "+n.Name, ReasonDraining, "its pods are being moved away", s.policy.SlowDrain, "", "wait until its pods are gone", a)
}

// empty decides about the pods of all nodes to be drained: together, because they
// share the disruption budgets.
func (s *stepper) empty() {
	var nodes []drain.Draining
	var names []string
	for _, b := range s.state.Begun {
		n := s.nodes[b.Node]
		pods := s.pods(n)
		if pods == nil || Stage(n) != StageDrain || n.Annotations[AnnotationDesiredDrain] != wishDrain+n.Annotations[AnnotationDesired] {
			continue
		}
		view := pods.View
		view.Node, view.Outcomes = n, s.Outcomes
		nodes, names = append(nodes, drain.Draining{View: &view}), append(names, n.Name)
	}
	if len(nodes) == 0 {
		return
	}
	s.drains = make(map[string]drain.NodeDecision, len(nodes))
	for i, d := range drain.With(&s.Ledger, nodes, &s.policy.Drain) {
		s.drains[names[i]] = d
	}
}

// pods returns what is known about the pods of a node; nil if somebody else drains
// it.
func (s *stepper) pods(n *Node) *NodePods {
	for i := range s.Pods {
		if s.Pods[i].Name == n.Name {
			return &s.Pods[i]
		}
	}
	return nil
}
