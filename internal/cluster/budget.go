package cluster

import (
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// guard is a budget and the pods that it selects, so that computing its numbers costs time in
// proportion to those pods, and not to all pods of its namespace.
type guard struct {
	budget   *fairlead.PodDisruptionBudget
	readable bool                     // Check finds no fault with it
	pods     map[string]*fairlead.Pod // by "namespace/name"
}

// budgetChanged handles the creation, change or deletion of a budget.
func (c *Cluster) budgetChanged(old, is *fairlead.PodDisruptionBudget) {
	b := is
	if b == nil {
		b = old
	}
	of := c.guards[b.Namespace]
	at, there := slices.BinarySearchFunc(of, b.Name, func(g *guard, name string) int { return strings.Compare(g.budget.Name, name) })
	if is == nil {
		c.guards[b.Namespace] = slices.Delete(of, at, at+1)
		return
	}
	g := &guard{is, is.Check() == nil, map[string]*fairlead.Pod{}}
	for name, p := range c.inSpace[is.Namespace] {
		if is.Selects(p) {
			g.pods[name] = p
		}
	}
	if there {
		of[at] = g
	} else {
		c.guards[b.Namespace] = slices.Insert(of, at, g)
	}
}

// guard handles the creation, change or deletion of a pod: it updates which budgets
// select it.
func (c *Cluster) guard(name string, old, is *fairlead.Pod) {
	p := is
	if p == nil {
		p = old
	}
	for _, g := range c.guards[p.Namespace] {
		if is != nil && g.budget.Selects(is) {
			g.pods[name] = is
		} else {
			delete(g.pods, name)
		}
	}
}

// Measured returns the budgets with their current numbers, by namespace and name.
func (c *Cluster) Measured() []fairlead.PodDisruptionBudget {
	var all []fairlead.PodDisruptionBudget
	for _, namespace := range slices.Sorted(maps.Keys(c.guards)) {
		for _, g := range c.guards[namespace] {
			all = append(all, *c.measure(g))
		}
	}
	return all
}

// measure returns a budget with its current numbers. If it is invalid, it is returned
// unchanged.
func (c *Cluster) measure(g *guard) *fairlead.PodDisruptionBudget {
	q := *g.budget
	if g.readable {
		q.Status = q.MeasureSelected(slices.AppendSeq(make([]*fairlead.Pod, 0, len(g.pods)), maps.Values(g.pods)), c.scale, c.Now())
	}
	return &q
}

// scale returns how many pods a workload should have.
func (c *Cluster) scale(namespace string, o *fairlead.OwnerReference) (int, bool) {
	for i := range c.workloads {
		switch w := &c.workloads[i]; {
		case w.Namespace != namespace:
		case w.owner().UID == o.UID:
			return w.Replicas, true
		case slices.Contains(w.before, o.UID):
			return 0, true
		}
	}
	return 0, false
}

// Guards returns the budgets that guard a pod, with their current numbers, and the answer of
// the eviction API for it.
func (c *Cluster) Guards(p *fairlead.Pod) ([]*fairlead.PodDisruptionBudget, object.EvictionVerdict) {
	var of []*fairlead.PodDisruptionBudget
	for _, g := range c.guards[p.Namespace] {
		if g.budget.Selects(p) {
			of = append(of, c.measure(g))
		}
	}
	return of, object.EvaluateEviction(p, of...)
}
