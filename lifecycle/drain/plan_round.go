package drain

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/internal/object"
)

// draining is a node of a batch with its remaining pods.
type draining struct {
	node *NodePlan
	left []leftPod
}

// leftPod is a pod that is still there.
type leftPod struct {
	sighting
	budgets []int32 // positions of its budgets
	plan    int     // position in the node's list
	stuck   bool    // permanently
}

// entry is a pod of a node, while its node is examined.
type entry struct {
	sighting
	at int32 // position of the pod
}

// batch drains nodes at the same time, until all are empty or stuck.
func (p *planner) batch(nodes []int, from int) {
	for len(p.space) < len(nodes) {
		p.space = append(p.space, draining{})
	}
	all := p.space[:len(nodes)]
	for i, n := range nodes {
		p.look(n, &p.plan.Nodes[from+i], &all[i])
	}
	for {
		p.round++
		moved := false
		for i := range all {
			if p.turn(&all[i]) {
				moved = true
			}
		}
		p.settle()
		if !moved {
			p.round--
			break
		}
	}
	for i := range all {
		d := &all[i]
		d.node.Stuck = len(d.left)
		for j := range d.left {
			p.blame(d, &d.left[j])
		}
	}
}

// look classifies the pods of a node. It uses the memory of d.
func (p *planner) look(at int, to *NodePlan, d *draining) {
	n := &p.req.Nodes[at]
	w := View{
		Node: n, DaemonSets: p.req.DaemonSets, DaemonSetsListed: p.req.DaemonSetsListed,
		Namespaces: p.req.Namespaces, ClusterLabels: p.req.ClusterLabels,
	}
	f := newFilter(p.policy, &w, p.req.Labels[n.Name], p.now)
	seen := p.seen[:0]
	for _, at := range p.pods[at] {
		seen = append(seen, entry{f.judge(&p.req.Pods[at]), at})
	}
	slices.SortFunc(seen, func(a, b entry) int {
		switch {
		case a.gone() && !b.gone():
			return 1
		case b.gone() && !a.gone():
			return -1
		case a.order != b.order:
			return cmp.Compare(a.order, b.order)
		}
		return comparePods(a.pod, b.pod)
	})
	*to = NodePlan{Node: n.Name, Cordoned: n.Spec.Unschedulable, Unreachable: Unreachable(n), Pods: make([]PodPlan, len(seen))}
	p.seen = seen
	d.node, d.left = to, d.left[:0]
	for i := range seen {
		s := &seen[i].sighting
		to.Pods[i] = PodPlan{
			Namespace: s.pod.Namespace, Name: s.pod.Name, UID: s.pod.UID, Fate: s.fate, Order: s.order, Reasons: p.reasons(s),
		}
		if s.gone() {
			continue
		}
		var of []int32
		if s.fate == FateEvict {
			of = p.budgets(seen[i].at)
		}
		for _, at := range of {
			p.tally[at].Pods++
		}
		d.left = append(d.left, leftPod{sighting: *s, budgets: of, plan: i})
	}
}

// reasons returns the results of the filters for a pod, the same list for
// equal results.
func (p *planner) reasons(s *sighting) []PodReason {
	if s.found&(foundOwn|foundRule|foundRuleNamespace) != 0 {
		return s.reasons()
	}
	if s.found == 0 {
		return nil
	}
	list, known := p.told[s.found]
	if !known {
		list = s.reasons()
		p.told[s.found] = list
	}
	return list
}

// turn evicts the pods in turn that may go, removes those that are being
// deleted, and reports whether there were any.
func (p *planner) turn(d *draining) (moved bool) {
	if len(d.left) == 0 {
		return false
	}
	order := d.left[0].order // they are in this order
	keep := d.left[:0]
	for i := range d.left {
		l := &d.left[i]
		if ends := l.pod.DeletionTimestamp != nil; !ends && (l.order != order || l.stuck || !p.goes(l)) {
			keep = append(keep, *l)
			continue
		}
		moved = true
		d.node.Pods[l.plan].Round = p.round
	}
	d.left = keep
	if moved {
		d.node.Last = p.round
		if d.node.First == 0 {
			d.node.First = p.round
		}
	}
	return moved
}

// goes reports whether a pod in turn goes in this round.
func (p *planner) goes(l *leftPod) bool {
	switch {
	case l.fate == FateRefuse:
		l.stuck = true
		return false
	case l.fate == FateWait:
		return true
	case p.policy.DisableEviction:
		p.evicted(l, false)
		return true
	}
	verdict := p.ledger.verdict(l.pod, l.budgets)
	if verdict.Allows() {
		p.evicted(l, verdict == object.EvictionAllowed)
		return true
	}
	l.stuck = verdict == object.EvictionUnsupported || verdict == object.EvictionForbidden
	return false
}

// evicted takes an eviction into account.
func (p *planner) evicted(l *leftPod, counted bool) {
	p.plan.Evicted++
	replaced := false
	if c := l.pod.ControllerOf(); c != nil {
		replaced = c.Kind != "DaemonSet" && c.Kind != "Job"
	}
	serves := l.pod.Ready() && l.pod.DeletionTimestamp == nil
	for _, at := range l.budgets {
		t := &p.tally[at]
		t.Evicted++
		switch {
		case !replaced:
			t.Unmanaged++
			if serves {
				p.delta[at]--
			}
		case !serves && !l.pod.Finished():
			p.delta[at]++ // its replacement serves from the next round on
		}
		if counted {
			p.ledger.use(at)
		}
		if !slices.Contains(p.spent, at) {
			p.spent = append(p.spent, at)
			t.Rounds++
		}
	}
}

// settle ends a round: replacements are ready, and the disruption controller
// has updated the budgets.
func (p *planner) settle() {
	for _, at := range p.spent {
		s := &p.ledger.budgets[at].Status
		s.CurrentHealthy += p.delta[at]
		p.ledger.used[at], p.delta[at] = 0, 0
		if s.ExpectedPods > 0 {
			s.DisruptionsAllowed = max(0, s.CurrentHealthy-s.DesiredHealthy)
		}
	}
	p.spent = p.spent[:0]
}

// blame notes why a pod is left.
func (p *planner) blame(d *draining, l *leftPod) {
	to := &d.node.Pods[l.plan]
	switch {
	case l.order != d.left[0].order:
		to.Why = ReasonLaterOrder
		return
	case l.fate == FateRefuse:
		to.Why = ReasonPodProtected
		if l.found&foundNoUID != 0 {
			to.Why = ReasonPodInvalid
		}
		return
	}
	first := &p.ledger.budgets[l.budgets[0]]
	to.Why = refusal(l.pod, first, p.ledger.verdict(l.pod, l.budgets))
	for _, at := range l.budgets {
		to.Budgets = append(to.Budgets, p.ledger.budgets[at].ObjectMeta.String())
	}
}
