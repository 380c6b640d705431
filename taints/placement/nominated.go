package placement

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// spares reports whether a pod that fits on a node still does once those are there for
// which room is made and whose priority is not lower.
func (c *Cluster) spares(p *fairlead.Pod, k *class, n *node) bool {
	first := c.before(p, n)
	if len(first) == 0 {
		return true
	}
	for i := range first {
		c.put(first[i], n.Name, 1)
	}
	fits := c.fits(k, n)
	for i := range first {
		c.put(first[i], n.Name, -1)
	}
	return fits
}

// before returns the pods for which room is made on a node before a pod gets any.
func (c *Cluster) before(p *fairlead.Pod, n *node) []*fairlead.Pod {
	var all []*fairlead.Pod
	for _, q := range c.nominated[n.Name] {
		if object.Priority(q) >= object.Priority(p) && !(q.Namespace == p.Namespace && q.Name == p.Name) {
			all = append(all, q)
		}
	}
	return all
}

// put counts a pod on a node, or no longer.
func (c *Cluster) put(p *fairlead.Pod, name string, by int) {
	x := &placed{pod: p, class: c.classOf(p), node: name}
	if by > 0 {
		if c.guests == nil {
			c.guests = map[*fairlead.Pod]*placed{}
		}
		c.guests[p] = x
	} else {
		x = c.guests[p]
		delete(c.guests, p)
	}
	c.move(x, by)
}

func (c *Cluster) nominatedWords(p *fairlead.Pod, n *node) string {
	var names []string
	for _, q := range c.before(p, n) {
		names = append(names, "pod "+q.Namespace+"/"+q.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
