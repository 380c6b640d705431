package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// Run lets everything happen that is due by now: agents, controllers, the
// scheduler and the cloud act until nothing changes.
func (c *Cluster) Run() {
	for {
		before := c.revision + len(c.log)
		c.cloud()
		c.agents()
		c.controllers()
		c.schedule()
		if c.revision+len(c.log) == before {
			return
		}
	}
}

// cloud removes instances that go, and in time their nodes.
func (c *Cluster) cloud() {
	now := c.now()
	for _, id := range slices.Sorted(maps.Keys(c.instances)) {
		i := c.instances[id]
		if i.gone.IsZero() || now.Before(i.gone) {
			continue
		}
		if i.lost.IsZero() {
			i.lost = now
			c.silent[i.node] = true
		}
		n, ok := Get(c, Nodes(), i.node)
		if ok && n.Spec.ProviderID == id && !now.Before(i.lost.Add(cmp.Or(max(c.options.NodeIsRemoved, 0), 10*time.Minute))) {
			c.drop("Node", i.node)
		}
	}
}

// agents start and end the pods of nodes, and collect those whose node is gone.
func (c *Cluster) agents() {
	now := c.now()
	for _, p := range List(c, Pods()) {
		if p.Spec.NodeName == "" {
			continue
		}
		if _, ok := Get(c, Nodes(), p.Spec.NodeName); !ok {
			c.forget(&p)
			continue
		}
		switch {
		case c.silent[p.Spec.NodeName]:
		case p.DeletionTimestamp != nil:
			if !p.DeletionTimestamp.After(now) && len(p.Finalizers) == 0 {
				c.forget(&p)
			}
		case p.Status.Phase == fairlead.PodPending && !now.Before(c.bound[p.UID].Add(cmp.Or(max(c.options.PodStartup, 0), 10*time.Second))):
			p.Status.Phase = fairlead.PodRunning
			p.Status.Conditions = fairlead.SetCondition(p.Status.Conditions, fairlead.Condition{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: now})
			put(c, Pods(), p)
		}
	}
}

func (c *Cluster) forget(p *fairlead.Pod) {
	delete(c.bound, p.UID)
	c.drop("Pod", p.ObjectMeta.String())
}

// controllers make the pods that are missing.
func (c *Cluster) controllers() {
	for i := range c.workloads {
		w := &c.workloads[i]
		owner := w.owner()
		have := 0
		for _, p := range List(c, Pods()) {
			if o := p.ControllerOf(); o != nil && o.UID == owner.UID && p.DeletionTimestamp == nil && !p.Finished() {
				have++
			}
		}
		for ; have < w.Replicas; have++ {
			p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{GenerateName: w.Name + "-", Namespace: w.Namespace, Labels: w.Labels, OwnerReferences: []fairlead.OwnerReference{owner}}}
			p.Spec = w.Template
			p.Status.Phase = fairlead.PodPending
			if _, err := Create(c, Pods(), p); err != nil {
				panic(fmt.Sprintf("a name was given twice: %v", err)) // serials are not
			}
		}
	}
}

// schedule binds the pods that wait, to the first node that takes each.
func (c *Cluster) schedule() {
	room := c.room()
	for _, p := range List(c, Pods()) {
		if p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
			continue
		}
		n, ok := room.First(&p, func(n *fairlead.Node) bool { return n.DeletionTimestamp == nil && !c.silent[n.Name] })
		if !ok {
			continue
		}
		p.Spec.NodeName = n.Name
		c.bound[p.UID] = c.now()
		q := put(c, Pods(), p)
		_ = room.Add(&q)
	}
}

// Next returns when time alone will change something, or the zero time.
func (c *Cluster) Next() time.Time {
	var next time.Time
	now := c.now()
	at := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, i := range c.instances {
		at(i.gone)
		if !i.lost.IsZero() {
			at(i.lost.Add(cmp.Or(max(c.options.NodeIsRemoved, 0), 10*time.Minute)))
		}
	}
	for _, p := range List(c, Pods()) {
		if p.DeletionTimestamp != nil {
			at(*p.DeletionTimestamp)
		}
		if b, ok := c.bound[p.UID]; ok {
			at(b.Add(cmp.Or(max(c.options.PodStartup, 0), 10*time.Second)))
		}
	}
	return next
}

// Measured returns the budgets with their present numbers, by namespace and name.
func (c *Cluster) Measured() []fairlead.PodDisruptionBudget {
	all := List(c, Budgets())
	pods := List(c, Pods())
	pointers := make([]*fairlead.Pod, len(pods))
	for i := range pods {
		pointers[i] = &pods[i]
	}
	for i := range all {
		if s, err := all[i].Measure(pointers, c.scale, c.now()); err == nil {
			all[i].Status = s
		}
	}
	return all
}

// scale is how many pods a workload is to have.
func (c *Cluster) scale(namespace string, o *fairlead.OwnerReference) (int, bool) {
	for i := range c.workloads {
		if w := &c.workloads[i]; w.Namespace == namespace && w.owner().UID == o.UID {
			return w.Replicas, true
		}
	}
	return 0, false
}

// judge asks the budgets of a pod whether it may be evicted.
func (c *Cluster) judge(p *fairlead.Pod) error {
	var of []*fairlead.PodDisruptionBudget
	all := c.Measured()
	for i := range all {
		if all[i].Selects(p) {
			of = append(of, &all[i])
		}
	}
	switch v := object.JudgeEviction(p, of...); {
	case v.Allows():
		return nil
	case v == object.EvictionUnsupported:
		return refused(500, "InternalError", "pod %s has more than one disruption budget", p.ObjectMeta)
	default:
		return refused(429, "TooManyRequests", "pod %s: disruption budget %s does not allow it: %s", p.ObjectMeta, of[0].ObjectMeta, v)
	}
}
