package placement

// counts are the numbers of pods that are relevant for a class, by label and
// value of their nodes.
type counts struct {
	epoch  int
	looked int      // how many of the cluster's classes, or of those with anti-affinity, were considered
	from   []source // the classes whose pods are relevant
	near   tally
	away   tally
	guard  tally // pods that must have none of this class near them
	spread []map[string]int
	least  []int // the minimum of each of spread; -1 if it must be computed again
}

// source is a class whose pods another one counts, with the number of its
// changes that are counted.
type source struct {
	*class
	seen int
}

// pair is a label of a node with its value.
type pair struct{ key, value string }

// tally is numbers of pods by label and value, without those that are 0.
type tally map[pair]int

// update brings the counts of a class up to date. Whether pods are relevant
// depends only on their class, so only the pods of relevant classes are visited.
func (c *Cluster) update(k *class) {
	if k.counts.epoch != c.epoch || k.counts.near == nil {
		k.counts = counts{epoch: c.epoch, near: tally{}, away: tally{}, guard: tally{}, spread: make([]map[string]int, len(k.spread)), least: make([]int, len(k.spread))}
		c.domains(k)
	}
	order := c.order
	if len(k.near)+len(k.away)+len(k.spread) == 0 { // only those that keep others away matter
		order = c.apart
	}
	for _, x := range order[k.counts.looked:] {
		if c.matters(k, x) {
			for p := range x.members {
				c.count(k, p, 1)
			}
			k.counts.from = append(k.counts.from, source{x, len(x.changes)})
		}
	}
	k.counts.looked = len(order)
	for i := range k.counts.from {
		x := &k.counts.from[i]
		for _, ch := range x.changes[x.seen:] {
			c.count(k, ch.pod, ch.by)
		}
		x.seen = len(x.changes)
	}
}

// matters reports whether pods of class x are counted by class k.
func (c *Cluster) matters(k, x *class) bool {
	if len(k.near) > 0 && c.allMatch(k.near, x) {
		return true
	}
	for i := range k.away {
		if c.matches(&k.away[i], x) {
			return true
		}
	}
	for i := range x.away {
		if c.matches(&x.away[i], k) {
			return true
		}
	}
	for i := range k.spread {
		if k.spread[i].means(k, x) {
			return true
		}
	}
	return false
}

// domains finds the values of the labels over which pods are spread.
func (c *Cluster) domains(k *class) {
	for i := range k.spread {
		k.counts.spread[i], k.counts.least[i] = map[string]int{}, -1
		for _, n := range c.nodes {
			if n != nil && c.eligible(k, i, n) {
				k.counts.spread[i][n.Labels[k.spread[i].TopologyKey]] += 0
			}
		}
	}
}

// eligible reports whether the pods of a node count for a constraint: whether the
// node has the labels of all constraints, and suits the pod if the constraint's
// policies require that.
func (c *Cluster) eligible(k *class, i int, n *node) bool {
	for j := range k.spread {
		if _, ok := n.Labels[k.spread[j].TopologyKey]; !ok {
			return false
		}
	}
	s := &k.spread[i]
	if s.NodeAffinityPolicy != "Ignore" && !selected(k.spec, n.Node) {
		return false
	}
	return s.NodeTaintsPolicy != "Honor" || untolerated(k.spec.Tolerations, n.Spec.Taints, c.options.ComparisonOperators) == nil
}

// count adds a pod to the counts of a class, or removes it.
func (c *Cluster) count(k *class, p *placed, by int) {
	at, ok := c.byName[p.node]
	if !ok {
		return
	}
	n := c.nodes[at]
	if len(k.near) > 0 && c.allMatch(k.near, p.class) {
		for i := range k.near {
			k.counts.near.add(n, k.near[i].key, by)
		}
	}
	for i := range k.away {
		if c.matches(&k.away[i], p.class) {
			k.counts.away.add(n, k.away[i].key, by)
		}
	}
	for i := range p.class.away {
		if c.matches(&p.class.away[i], k) {
			k.counts.guard.add(n, p.class.away[i].key, by)
		}
	}
	for i := range k.spread {
		if !p.ending && k.spread[i].means(k, p.class) && c.eligible(k, i, n) {
			k.counts.spread[i][n.Labels[k.spread[i].TopologyKey]] += by
			k.counts.least[i] = -1
		}
	}
}

// matches reports whether a term matches pods of a class.
func (c *Cluster) matches(t *term, k *class) bool {
	var labels map[string]string
	if t.labelled != nil {
		labels = c.namespaceLabels(k.namespace)
	}
	return t.matches(k.namespace, labels, k.labels)
}

func (c *Cluster) allMatch(terms []term, k *class) bool {
	for i := range terms {
		if !c.matches(&terms[i], k) {
			return false
		}
	}
	return true
}

// add counts a pod for the value that its node has of a label.
func (m tally) add(n *node, key string, by int) {
	value, ok := n.Labels[key]
	if !ok {
		return
	}
	p := pair{key, value}
	if m[p] += by; m[p] == 0 {
		delete(m, p)
	}
}
