package fleet

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

// Why returns the taints of a node that a pod does not tolerate, as [taints.Explain] explains
// them, without those of an unknown effect, and false if the pod or the node is not known. Members of one class have the same
// lists in any order: positions in them, and when a taint was added, are those of the first
// of the class. Conditions of nodes are not known here, so advice does not use them.
func (m *Matcher) Why(pod, node string) (all []taints.UntoleratedTaint, known bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	p, n := m.pods.class(pod), m.nodes.class(node)
	if p == 0 || n == 0 {
		return nil, false
	}
	x := taints.Explain(m.pods.classes[p].pod(), m.nodes.classes[n].node(), &taints.ExplainOptions{Options: m.options})
	return slices.DeleteFunc(x.Untolerated, func(u taints.UntoleratedTaint) bool { return !counts.Has(u.Taint.Effect) }), true
}

// counts are the effects that tell classes of nodes apart.
const counts = taints.OnScheduling | taints.OnPreferNoSchedule

// pod returns a pod of a class.
func (c *class) pod() *fairlead.Pod {
	p := &fairlead.Pod{}
	p.Spec.Tolerations = c.tolerations
	return p
}

// node returns a node of a class.
func (c *class) node() *fairlead.Node {
	n := &fairlead.Node{}
	n.Spec.Taints, n.Spec.Unschedulable = c.taints, c.unschedulable
	return n
}

// Rejection is a taint that keeps a pod off nodes.
type Rejection struct {
	Taint fairlead.Taint `json:"taint"` // which; without the time when it was added
	Nodes int            `json:"nodes"` // how many nodes it keeps the pod off
	Node  string         `json:"node"`  // the first of them by name
}

// Rejections returns the taints that keep a pod off nodes, each of them: a node with two is counted
// for both. The most frequent come first, then by taint; none if the pod is not known. A node
// that is marked unschedulable has the taint for that. The cost is that of all nodes once.
func (m *Matcher) Rejections(pod string) (all []Rejection) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	p := m.pods.class(pod)
	if p == 0 {
		return nil
	}
	first := make([]string, len(m.nodes.classes)) // the first node of each class
	for at, name := range m.nodes.names {
		if class := m.nodes.of[at]; class != 0 && (first[class] == "" || name < first[class]) {
			first[class] = name
		}
	}
	tolerations := m.pods.classes[p].tolerations
	for number := range m.nodes.classes {
		c := &m.nodes.classes[number]
		if c.size == 0 || m.cell(p, int32(number)).Schedulable() {
			continue
		}
		list := c.taints
		if c.unschedulable && taints.Find(list, taints.KeyUnschedulable, fairlead.NoSchedule) == nil {
			list = append(slices.Clip(list), fairlead.Taint{Key: taints.KeyUnschedulable, Effect: fairlead.NoSchedule})
		}
		var of []fairlead.Taint // each once
		for t := range taints.Untolerated(tolerations, list, taints.OnScheduling, &m.options) {
			plain := *t
			plain.TimeAdded = nil
			if !slices.Contains(of, plain) {
				of, all = append(of, plain), add(all, plain, c.size, first[number])
			}
		}
	}
	slices.SortFunc(all, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Taint.String(), b.Taint.String()))
	})
	return all
}

// add counts nodes for a taint.
func add(all []Rejection, t fairlead.Taint, nodes int, first string) []Rejection {
	i := slices.IndexFunc(all, func(r Rejection) bool { return r.Taint == t })
	if i < 0 {
		return append(all, Rejection{t, nodes, first})
	}
	all[i].Nodes, all[i].Node = all[i].Nodes+nodes, min(all[i].Node, first)
	return all
}
