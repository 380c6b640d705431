package placement

import "github.com/fairlead/fairlead"

// Asks returns what a pod requests from a node, by resource, as the scheduler
// counts it: thousandths of cpu, whole units of others, and one of "pods". It
// is nil if the pod's requests are invalid. It is shared, and must not be
// changed.
func (c *Cluster) Asks(p *fairlead.Pod) map[string]int64 {
	k := c.classOf(p)
	if k.err == nil && k.demand == nil {
		k.demand = map[string]int64{"pods": 1}
		for _, a := range k.asks {
			k.demand[c.resources[a.resource]] = a.amount
		}
	}
	return k.demand
}

// Allocatable returns what a node offers to pods, in the same units.
func Allocatable(n *fairlead.Node) map[string]int64 {
	all := make(map[string]int64, len(n.Status.Allocatable))
	for name, text := range n.Status.Allocatable {
		if a, err := ParseAmount(text); err == nil {
			all[name] = counted(name, a)
		}
	}
	return all
}
