package placement

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead"
)

// Answer says where a pod fits, and why it does not elsewhere.
type Answer struct {
	Nodes []string `json:"nodes"` // on which it fits, in the order of addition
	// Rejections are why it fits on no other node, the most frequent first, then by filter.
	Rejections []Rejection `json:"rejections,omitempty"`
	// Unknown is what Nodes rests on and is not known; see Cluster.Unknown.
	Unknown []string `json:"unknown,omitempty"`
}

// Rejection is a filter that rejects nodes, as their first.
type Rejection struct {
	Filter  Filter `json:"filter"`  // which
	Nodes   int    `json:"nodes"`   // how many it rejects
	Node    string `json:"node"`    // the first of them
	Message string `json:"message"` // why it rejects that one
}

// Where says on which of the nodes that may accepts a pod like this one fits now, and which
// filter rejects each of the others; a nil may accepts all. Of several filters it counts the
// first. The cost is that of Fits for each node, without that of finding the pod's class.
func (c *Cluster) Where(p *fairlead.Pod, may func(*fairlead.Node) bool) Answer {
	a := Answer{Nodes: []string{}, Unknown: c.Unknown(p)}
	k := c.classOf(p)
	if k.err == nil {
		c.update(k)
	}
	var at [len(filters)]int // 1 + the position in a.Rejections
	for _, n := range c.nodes {
		if n == nil || may != nil && !may(n.Node) {
			continue
		}
		f := c.first(p, k, n)
		if f < 0 {
			a.Nodes = append(a.Nodes, n.Name)
			continue
		}
		if at[f] == 0 {
			a.Rejections = append(a.Rejections, Rejection{Filter: filters[f], Node: n.Name, Message: c.message(p, n, filters[f])})
			at[f] = len(a.Rejections)
		}
		a.Rejections[at[f]-1].Nodes++
	}
	slices.SortFunc(a.Rejections, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Filter, b.Filter))
	})
	return a
}

// filters are all filters. Those that depend on a node alone come first.
var filters = [...]Filter{
	Invalid, NodeUnschedulable, TaintToleration, NodeAffinity, VolumeBinding, VolumeZone,
	NodePorts, NodeResources, VolumeRestriction, VolumeLimits, TopologySpread, InterPodAffinity,
}

// first returns the position of the first filter that rejects a node for a pod of a class,
// whose counts are up to date, or -1.
func (c *Cluster) first(p *fairlead.Pod, k *class, n *node) int {
	if k.err != nil {
		return 0
	}
	if f := c.barred(k, n); f > 0 {
		return f
	}
	if len(k.ports) > 0 && n.taken(k) != nil {
		return 6
	}
	if !n.holds(k) {
		return 7
	}
	if c.occupied(k) != "" {
		return 8
	}
	if len(k.claims.attach) > 0 {
		if driver, _, _ := c.full(k, n); driver != "" {
			return 9
		}
	}
	if k.uneven(n) >= 0 {
		return 10
	}
	if judged, _ := c.company(k, n); judged != suitable {
		return 11
	}
	if !c.spares(p, k, n) {
		return 7
	}
	return -1
}

// barred returns the position of the first filter that rejects a node for a class whatever
// runs there, or 0. It remembers the answer.
func (c *Cluster) barred(k *class, n *node) int {
	if k.static == nil {
		c.judged = append(c.judged, k)
	}
	if len(k.static) < len(c.nodes) {
		k.static = append(k.static, make([]int8, len(c.nodes)-len(k.static))...)
	}
	if k.static[n.at] == 0 {
		k.static[n.at] = int8(c.judge(k, n.Node)) + 1
	}
	return int(k.static[n.at]) - 1
}

func (c *Cluster) judge(k *class, n *fairlead.Node) int {
	numbers := c.options.ComparisonOperators
	switch {
	case closed(k.spec, n, numbers):
		return 1
	case untolerated(k.spec.Tolerations, n.Spec.Taints, numbers) != nil:
		return 2
	case !selected(k.spec, n):
		return 3
	}
	filter, _ := k.claims.apart(n)
	switch filter {
	case VolumeBinding:
		return 4
	case VolumeZone:
		return 5
	}
	return 0
}

// message says why a filter rejects a node.
func (c *Cluster) message(p *fairlead.Pod, n *node, f Filter) string {
	for _, r := range c.Evaluate(p, n.Name) {
		if r.Filter == f {
			return r.Message
		}
	}
	return ""
}
