package placement

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// Preemption is what the scheduler would do to make room for a pod.
type Preemption struct {
	// Node is where the pod fits once the victims are gone.
	Node string
	// Victims are pods of lower priority, the most important first. They are those of
	// the Cluster, and must not be changed.
	Victims []*fairlead.Pod
	// Violations is how many of the victims are evicted although a budget does not
	// allow it at present: preemption prefers not to, and does so if it must.
	Violations int
}

// Preempt returns which pods of lower priority would be evicted to make room for a pod
// like this one, on which of the nodes that may accepts; nil accepts all. ok is false
// if nothing would be: the pod never preempts, or no node would take it even then.
// The pod must fit on no node, and must not be in the cluster.
//
// It chooses as kube-scheduler does: as few victims as possible per node, those whose
// budgets allow it first; then the node with the fewest violations of budgets, the
// lowest priority of the most important victim, the lowest sum of priorities, the
// fewest victims, the latest start; then the first in the order of addition. (The
// scheduler examines a tenth of a large cluster, from a random node on.) The cluster is
// the same afterwards. Budgets count with the DisruptionsAllowed of their status.
func (c *Cluster) Preempt(p *fairlead.Pod, budgets []fairlead.PodDisruptionBudget, may func(*fairlead.Node) bool) (best Preemption, ok bool) {
	if p.Spec.PreemptionPolicy == fairlead.PreemptNever {
		return best, false
	}
	var least rank
	for _, n := range c.nodes {
		if n == nil || may != nil && !may(n.Node) || !c.suits(c.classOf(p), n) {
			continue
		}
		victims, violations := c.victims(p, n, budgets)
		if len(victims) == 0 {
			continue
		}
		if r := rankOf(victims, violations); !ok || r.before(&least) {
			best, least, ok = Preemption{n.Name, victims, violations}, r, true
		}
	}
	return best, ok
}

// victims returns the pods that would have to leave a node, the most important first,
// and how many of them no budget allows to. There are none if that does not help.
func (c *Cluster) victims(p *fairlead.Pod, n *node, budgets []fairlead.PodDisruptionBudget) (victims []*fairlead.Pod, violations int) {
	var lower []*fairlead.Pod
	for x := range c.bound[n.Name] {
		if object.Priority(x.pod) < object.Priority(p) {
			lower = append(lower, x.pod)
		}
	}
	if len(lower) == 0 {
		return nil, 0
	}
	slices.SortFunc(lower, byImportance)
	for _, v := range lower {
		c.Remove(v)
	}
	defer func() {
		for _, v := range lower { // again, also those that are there
			_ = c.Add(v) // it was there before
		}
	}()
	if !c.Fits(p, n.Name) {
		return nil, 0
	}
	protected, free := protected(lower, budgets)
	reprieve := func(all []*fairlead.Pod) (gone int) {
		for _, v := range all {
			_ = c.Add(v)
			if !c.Fits(p, n.Name) {
				c.Remove(v)
				victims = append(victims, v)
				gone++
			}
		}
		return gone
	}
	violations = reprieve(protected)
	reprieve(free)
	slices.SortFunc(victims, byImportance)
	return victims, violations
}

// protected splits pods into those whose eviction would violate a budget, if they were
// evicted in this order, and the others.
func protected(pods []*fairlead.Pod, budgets []fairlead.PodDisruptionBudget) (violating, other []*fairlead.Pod) {
	allowed := make([]int, len(budgets))
	for i := range budgets {
		allowed[i] = budgets[i].Status.DisruptionsAllowed
	}
	for _, p := range pods {
		violates := false
		for i := range budgets {
			b := &budgets[i]
			if len(p.Labels) == 0 || b.Spec.Selector.Empty() || !b.Selects(p) {
				continue
			}
			if _, counted := b.Status.DisruptedPods[p.Name]; counted {
				continue
			}
			allowed[i]--
			violates = violates || allowed[i] < 0
		}
		if violates {
			violating = append(violating, p)
		} else {
			other = append(other, p)
		}
	}
	return violating, other
}

// rank is what makes the victims of a node preferable; smaller is better.
type rank struct {
	violations int
	highest    int32
	sum        int64
	count      int
	start      time.Time // later is better
}

func rankOf(victims []*fairlead.Pod, violations int) rank {
	r := rank{violations: violations, highest: object.Priority(victims[0]), count: len(victims), start: start(victims[0])}
	for _, v := range victims {
		r.sum += int64(object.Priority(v)) + math.MaxInt32 + 1 // so that few low ones are better than many
		if t := start(v); object.Priority(v) == r.highest && t.Before(r.start) {
			r.start = t
		}
	}
	return r
}

func (r *rank) before(o *rank) bool {
	return cmp.Or(cmp.Compare(r.violations, o.violations), cmp.Compare(r.highest, o.highest), cmp.Compare(r.sum, o.sum),
		cmp.Compare(r.count, o.count), o.start.Compare(r.start)) < 0
}

// byImportance orders pods by priority, the highest first, then by start, the earliest
// first, then by name.
func byImportance(a, b *fairlead.Pod) int {
	return cmp.Or(cmp.Compare(object.Priority(b), object.Priority(a)), start(a).Compare(start(b)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// start returns when a pod started; one that has not counts as the latest.
func start(p *fairlead.Pod) time.Time {
	if p.Status.StartTime == nil {
		return time.Unix(1<<40, 0)
	}
	return *p.Status.StartTime
}
