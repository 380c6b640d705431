package drain

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// draining is a node of a batch with its remaining pods.
type draining struct {
	node *NodePlan
	left []leftPod
	dead bool // it is silent, and nothing says that its pods have ended
	// force is the taint by which it loses its pods, if it is silent; or nil.
	force *fairlead.Taint
}

// leftPod is a pod that is still there.
type leftPod struct {
	sighting
	budgets []int32 // positions of its budgets
	plan    int     // position in the node's list
	at      int32   // position of the pod
	stuck   bool    // permanently
	evicted bool    // its eviction was accepted
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
		delete(p.later, p.req.Nodes[n].Name)
		if p.rooms != nil {
			p.close(&p.req.Nodes[n])
		}
	}
	for {
		p.round++
		moved := p.elsewhere
		p.elsewhere = false
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
		for j := range d.node.Pods {
			if d.node.Pods[j].NoRoom != nil {
				d.node.Homeless++
			}
		}
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
		seen = append(seen, entry{f.judge(p.pod(at)), at})
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
	*to = NodePlan{Node: n.Name, Cordoned: n.Spec.Unschedulable, Unreachable: Unreachable(n), Flags: Flags{DisableEviction: p.policy.DisableEviction}, Marks: nodeMarks(n), Pods: make([]PodPlan, len(seen))}
	p.seen = seen
	d.node, d.left, d.dead = to, d.left[:0], to.Unreachable && !outOfService(n)
	d.force = forced(n)
	for i := range seen {
		s := &seen[i].sighting
		to.Flags.add(s.found)
		to.Pods[i] = PodPlan{
			Namespace: s.pod.Namespace, Name: s.pod.Name, UID: s.pod.UID, Fate: s.fate, Order: s.order, Reasons: p.reasons(s),
			Marks: podMarks(n, s.pod),
		}
		if s.pod.DeletionTimestamp != nil {
			to.Pods[i].Until = *s.pod.DeletionTimestamp
		}
		if held := d.dead || to.Unreachable && len(s.pod.Finalizers) > 0; s.gone() && !(held && s.strands()) {
			continue
		}
		var of []int32
		if s.fate == FateEvict {
			of = p.budgets(seen[i].at)
		}
		for _, at := range of {
			p.tally[at].Pods++
		}
		d.left = append(d.left, leftPod{sighting: *s, budgets: of, plan: i, at: seen[i].at})
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
		if l.pod.DeletionTimestamp != nil {
			if !p.ends(d, l) {
				keep = append(keep, *l)
				continue
			}
			p.ended(d, l)
		} else if l.order != order || l.stuck || !p.goes(d, l) {
			keep = append(keep, *l)
			continue
		}
		moved = true
		if d.node.Pods[l.plan].Round = p.round; d.dead {
			l.evicted, l.stuck = true, true // the API deletes it when its node says that it has ended
			keep = append(keep, *l)
		}
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
func (p *planner) goes(d *draining, l *leftPod) bool {
	switch {
	case d.dropped(l):
		p.evicted(d, l, false)
		return true
	case l.fate == FateRefuse:
		l.stuck = true
		return false
	case l.fate == FateWait:
		return true
	case p.policy.DisableEviction:
		p.evicted(d, l, false)
		return true
	}
	verdict := p.disruptions.verdict(l.pod, l.budgets)
	if verdict.Allows() {
		p.evicted(d, l, verdict == object.EvictionAllowed)
		return true
	}
	l.stuck = verdict == object.EvictionUnsupported || verdict == object.EvictionForbidden
	return false
}

// evicted takes an eviction into account.
func (p *planner) evicted(d *draining, l *leftPod, counted bool) {
	p.plan.Evicted++
	serves := l.pod.Ready() && l.pod.DeletionTimestamp == nil
	again := serving(l.pod) && !d.dead // on a dead node it only seems to be gone
	for _, at := range l.budgets {
		t := &p.tally[at]
		t.Evicted++
		if !again {
			t.Unmanaged++
			if serves {
				p.delta[at]--
			}
		}
		if counted {
			p.disruptions.use(at)
		}
		if p.touch(at) {
			t.Rounds++
		}
	}
	x := &leaver{pod: l.pod, at: l.at, node: d.node, plan: l.plan, serves: serves}
	if again {
		x.budgets = l.budgets
	}
	switch {
	case p.rooms == nil && again:
		p.serve(x)
	case p.rooms == nil || d.dead:
	case replaced(l.pod):
		p.left = append(p.left, x)
	default:
		p.rooms.remove(l.pod)
	}
}

// serving reports whether a controller creates another pod in the place of one that
// serves.
func serving(p *Pod) bool {
	c := p.ControllerOf()
	return c != nil && c.Kind != "DaemonSet" && c.Kind != "Job"
}

// touch notes that a budget changes in this round, and reports whether that is news.
func (p *planner) touch(at int32) bool {
	if slices.Contains(p.spent, at) {
		return false
	}
	p.spent = append(p.spent, at)
	return true
}

// settle ends a round: replacements are ready, and the disruption controller
// has updated the budgets.
func (p *planner) settle() {
	if p.rooms != nil {
		left := p.left
		p.left = nil
		p.rehouse(left)
	}
	for _, at := range p.spent {
		s := &p.disruptions.budgets[at].Status
		s.CurrentHealthy += p.delta[at]
		p.disruptions.used[at], p.delta[at] = 0, 0
		if s.ExpectedPods > 0 {
			s.DisruptionsAllowed = max(0, s.CurrentHealthy-s.DesiredHealthy)
		}
	}
	p.spent = p.spent[:0]
}
