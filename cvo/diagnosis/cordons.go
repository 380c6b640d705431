package diagnosis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// handTime is how long a cordon may be part of work that somebody does by hand.
const handTime = 30 * time.Minute

// unschedulableTaint is the taint of a cordoned node.
const unschedulableTaint = "node.kubernetes.io/unschedulable"

// leaving are taints of programs that are about to remove a node.
var leaving = []string{"ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption"}

// cordons adds the nodes that are cordoned although nothing that is known needs that: no update, no
// machine that is being deleted, no autoscaler.
func (b *builder) cordons() {
	var open []string // whose drain may be under way
	for _, name := range b.index.nodes {
		n := b.node(name)
		if !n.Spec.Unschedulable || b.down[name] || rollout.Away(n) || b.leaves(n) || b.have[ID("Node", "", name)] || b.chosen(name) {
			continue
		}
		open = append(open, name)
	}
	if b.pods != nil && len(open) > 0 {
		b.drainsWait(open, byHand)
	}
	for _, name := range open {
		b.cordon(b.node(name))
	}
}

// chosen reports whether a node was chosen to be drained, so that its cordon is meant. If all nodes
// are asked about, none was.
func (b *builder) chosen(node string) bool {
	return len(b.toDrain) < len(b.nodes) && slices.Contains(b.toDrain, node)
}

// leaves reports whether a machine that is being deleted, or an autoscaler, needs the cordon of a node.
func (b *builder) leaves(n *fairlead.Node) bool {
	if slices.ContainsFunc(n.Spec.Taints, func(t fairlead.Taint) bool { return slices.Contains(leaving, t.Key) }) {
		return true
	}
	return slices.ContainsFunc(b.machines, func(m lifecycle.Machine) bool {
		if !m.Deleting() {
			return false
		}
		of := lifecycle.NodeOf(&m, b.nodes)
		return of != nil && of.Name == n.Name
	})
}

// cordonSince returns since when a node is cordoned, as its taint says; zero if it does not.
func cordonSince(n *fairlead.Node) (since time.Time) {
	for _, t := range n.Spec.Taints {
		if t.Key == unschedulableTaint && t.TimeAdded != nil {
			since = *t.TimeAdded
		}
	}
	return since
}

// cordon returns the ID of a node that is cordoned, and adds it if nothing else is known of it.
func (b *builder) cordon(n *fairlead.Node) string {
	id := ID("Node", "", n.Name)
	if b.have[id] {
		return id
	}
	x := Node{Kind: "Node", Name: n.Name, State: Faulty, Reason: NodeCordoned, Since: cordonSince(n), Sure: Derived, Owner: "administrator"}
	x.Says = "node " + n.Name + " is cordoned, and nothing that is known needs that"
	if left := b.evictable(n.Name); b.pods != nil && left > 0 {
		x.Says += fmt.Sprintf("; %s still there", words.Count(left, "pod that a drain would move is", "pods that a drain would move are"))
	}
	if !x.Since.IsZero() && b.age(x.Since) < handTime {
		x.State = Going
	}
	if strings.HasPrefix(n.Annotations[rollout.AnnotationDesiredDrain], "drain-") { // the machine config operator allows pods again itself
		x.State, x.Says = Going, "node "+n.Name+" was drained for the update, and will be uncordoned"
	}
	return b.add(x)
}

// evictable returns how many pods of a node a drain would move.
func (b *builder) evictable(node string) (count int) {
	for _, i := range b.index.podsOn[node] {
		p := &b.pods[i]
		c := p.ControllerOf()
		if mirror := p.Annotations["kubernetes.io/config.mirror"] != ""; !mirror && !p.Finished() && (c == nil || c.Kind != "DaemonSet" && c.Kind != "Node") {
			count++
		}
	}
	return count
}

// kind of a drain.
type work int

const (
	forUpdate work = iota // the machine config operator drains the nodes
	ahead                 // it will
	byHand                // the nodes are cordoned, so somebody may drain them
	wanted                // somebody asks how it would go
	removal               // Karpenter does
)

// drainAhead returns a node whose drain would not complete.
func (b *builder) drainAhead(name string, w work) Node {
	x := Node{Kind: "Node", Name: name, State: Waiting, Reason: NodeDrainAhead, Owner: "owner of the pods"}
	if w == byHand {
		x.Reason, x.Since = NodeDrainStuck, cordonSince(b.node(name))
		x.Says = "node " + name + " is cordoned, and its drain does not complete"
		return x
	}
	x.Says = "the drain of node " + name + ", which the update still needs, would not complete"
	if w == wanted {
		x.Says = "the drain of node " + name + " would not complete"
	}
	return x
}

// notWhy are reasons for which a pod stays that say nothing about a drain by hand.
func notWhy(p *drain.PodPlan, w work) bool {
	return p.Why == "" || p.Why == drain.ReasonLaterOrder || w == byHand && (p.Why == drain.ReasonPodProtected || p.Why == drain.ReasonPodInvalid)
}
