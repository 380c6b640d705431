package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
	"github.com/fairlead/fairlead/taints/placement"
)

// Run carries out everything that is due by now: kubelets, controllers, the scheduler
// and the cloud act.
func (c *Cluster) Run() {
	now := c.Now()
	for {
		c.controllers()
		what, ok := c.due.Pop(now)
		if !ok {
			return
		}
		verb, id, _ := strings.Cut(what, " ")
		switch verb {
		case "instance":
			c.instanceGoes(id, now)
		case "lost":
			if n := Ref(c, Nodes(), id); n != nil && c.mute(n) {
				c.RemoveNode(id)
			}
		case "out":
			c.dropPods(id)
		case "place":
			if p := Ref(c, Pods(), id); p != nil {
				c.place(p, now)
			}
		case "ready":
			c.start(Ref(c, Pods(), id), now)
		case "end":
			c.finish(Ref(c, Pods(), id), now)
		}
	}
}

// Next returns when the passing of time changes something next, or the zero time.
func (c *Cluster) Next() time.Time {
	at, _ := c.due.Next()
	return at
}

// Unheard reports whether the condition Ready of a node is Unknown.
func Unheard(n *fairlead.Node) bool {
	r := n.Condition("Ready")
	return r != nil && r.Status == fairlead.ConditionUnknown
}

// mute reports whether the kubelet of a node does nothing.
func (c *Cluster) mute(n *fairlead.Node) bool { return c.silent[n.Name] || Unheard(n) }

// instanceGoes removes an instance; its node stops reporting, and the cloud removes
// it later.
func (c *Cluster) instanceGoes(id string, now time.Time) {
	i := c.instances[id]
	if i == nil || !i.going {
		return
	}
	delete(c.instances, id)
	n := Ref(c, Nodes(), i.node())
	if n == nil {
		return
	}
	q := *n
	q.Status.Conditions = slices.DeleteFunc(slices.Clone(n.Status.Conditions), func(c fairlead.NodeCondition) bool { return c.Type == "Ready" })
	q.Status.Conditions = append(q.Status.Conditions, fairlead.NodeCondition{Type: "Ready", Status: fairlead.ConditionUnknown, LastTransitionTime: now})
	Put(c, Nodes(), &q)
	c.due.Add("lost "+n.Name, now.Add(or(c.options.NodeIsRemoved, 10*time.Minute)))
}

// RemoveNode removes a node and its pods.
func (c *Cluster) RemoveNode(name string) {
	Drop(c, Nodes(), name)
	for _, p := range c.PodsOn(name) {
		c.vanish(p)
	}
}

// vanish removes a pod, and makes its controller create another.
func (c *Cluster) vanish(p *fairlead.Pod) {
	Drop(c, Pods(), p.ObjectMeta.String())
	c.replace(p)
}

// finish removes a pod whose grace period is over, if its kubelet is running.
func (c *Cluster) finish(p *fairlead.Pod, now time.Time) {
	if p == nil || p.DeletionTimestamp == nil || p.DeletionTimestamp.After(now) || len(p.Finalizers) > 0 {
		return
	}
	if n := Ref(c, Nodes(), p.Spec.NodeName); n == nil || !c.mute(n) || outOfService(n) {
		c.vanish(p)
	}
}

// start makes a bound pod ready.
func (c *Cluster) start(p *fairlead.Pod, now time.Time) {
	if p == nil {
		return
	}
	n := Ref(c, Nodes(), p.Spec.NodeName)
	if n == nil || c.mute(n) || p.DeletionTimestamp != nil || p.Status.Phase == fairlead.PodRunning {
		return
	}
	delete(c.bound, p.UID)
	q := *p
	q.Status.Phase = fairlead.PodRunning
	q.Status.Conditions = fairlead.SetCondition(p.Status.Conditions, fairlead.Condition{Type: "Ready", Status: fairlead.ConditionTrue, LastTransitionTime: now})
	Put(c, Pods(), &q)
}

// replace makes the controller of a removed pod create another.
func (c *Cluster) replace(p *fairlead.Pod) {
	o := p.ControllerOf()
	if c.options.Still || o == nil || o.Kind == "DaemonSet" || p.Finished() || strings.HasPrefix(o.UID, workloadUID) {
		return
	}
	n := *p
	n.UID = c.UID("Pod")
	base, _, _ := strings.Cut(p.Name, "~")
	n.Name = fmt.Sprintf("%s~%d", base, c.serial)
	n.DeletionTimestamp, n.DeletionGracePeriodSeconds = nil, nil
	n.Spec.NodeName = ""
	n.Status.Phase = fairlead.PodPending
	n.Status.Conditions = nil
	Put(c, Pods(), &n)
}

// controllers create the missing pods of workloads, and end those that were replaced.
func (c *Cluster) controllers() {
	if !c.short {
		return
	}
	c.short = false
	for i := range c.workloads {
		w := &c.workloads[i]
		owner, have := w.owner(), 0
		if len(w.before) > 0 && c.ready(w.Namespace, []string{owner.UID}) >= w.Replicas {
			before := w.before
			w.before = nil
			c.endPods(w.Namespace, before)
		}
		for _, p := range c.inSpace[w.Namespace] {
			if o := p.ControllerOf(); o != nil && o.UID == owner.UID && p.DeletionTimestamp == nil && !p.Finished() {
				have++
			}
		}
		for ; have < w.Replicas; have++ {
			p := fairlead.Pod{ObjectMeta: fairlead.ObjectMeta{GenerateName: w.Name + "-", Namespace: w.Namespace, Labels: w.Labels, OwnerReferences: []fairlead.OwnerReference{owner}}}
			p.Spec = w.Template
			p.Status.Phase = fairlead.PodPending
			if _, err := Create(c, Pods(), p); err != nil {
				panic(fmt.Sprintf("a name was used twice: %v", err)) // serials are never reused
			}
		}
	}
}

// place puts a pod on a node that it fits on. If there is none, it ends pods of lower
// priority where that helps; it retries later.
func (c *Cluster) place(p *fairlead.Pod, now time.Time) {
	if p.Spec.NodeName != "" || p.DeletionTimestamp != nil || c.options.Still {
		return
	}
	node, victims := c.schedule(p)
	q := *p
	switch {
	case node == "":
	case len(victims) > 0 && !c.awaits(p):
		for _, v := range victims {
			seconds := Grace(v, nil)
			c.End(v, now.Add(time.Duration(seconds)*time.Second).Truncate(time.Second), seconds, nil)
		}
		q.Status.NominatedNodeName = node
		Put(c, Pods(), &q)
	case len(victims) == 0:
		q.Spec.NodeName, q.Status.NominatedNodeName = node, ""
		c.bound[p.UID] = now
		Put(c, Pods(), &q)
		c.due.Add("ready "+p.ObjectMeta.String(), now.Add(or(c.options.PodStartup, 10*time.Second)))
		return
	}
	c.due.Add("place "+p.ObjectMeta.String(), now.Add(10*time.Second))
}

// awaits reports whether pods end for a pod on the node that it is nominated for: it makes no
// others end then.
func (c *Cluster) awaits(p *fairlead.Pod) bool {
	if p.Status.NominatedNodeName == "" {
		return false
	}
	return slices.ContainsFunc(c.PodsOn(p.Status.NominatedNodeName), func(o *fairlead.Pod) bool {
		return o.DeletionTimestamp != nil && object.Priority(o) < object.Priority(p)
	})
}

// schedule returns the next node that a pod fits on, in turn by name; or the one where pods of
// lower priority would have to end first, with them.
func (c *Cluster) schedule(p *fairlead.Pod) (node string, victims []*fairlead.Pod) {
	if c.options.Schedule != nil {
		return c.options.Schedule(p, c.open)
	}
	for i := range c.open {
		turn := (c.turn + 1 + i) % len(c.open)
		if c.rooms().Fits(p, c.open[turn]) {
			c.turn = turn
			return c.open[turn], nil
		}
	}
	found, _ := c.rooms().Preempt(p, c.Measured(), func(n *fairlead.Node) bool { _, is := slices.BinarySearch(c.open, n.Name); return is })
	return found.Node, found.Victims
}

// rooms returns the nodes and pods as the scheduler sees them.
func (c *Cluster) rooms() *placement.Cluster {
	if c.room == nil {
		c.room = placement.New(&placement.Options{RoomUntold: true, Storage: c.options.Storage})
		for _, n := range Refs(c, Nodes()) {
			_ = c.room.SetNode(n) // quantities that cannot be parsed count as no room
		}
		for _, p := range Refs(c, Pods()) {
			_ = c.room.Add(p)
		}
	}
	return c.room
}

// podChanged handles the creation, change or deletion of a pod.
func (c *Cluster) podChanged(name string, old, is *fairlead.Pod) {
	c.guard(name, old, is)
	if old != nil {
		delete(c.onNode[old.Spec.NodeName], name)
		delete(c.inSpace[old.Namespace], name)
		if is == nil || is.UID != old.UID {
			delete(c.byUID, old.UID)
			delete(c.bound, old.UID)
		}
	}
	if len(c.workloads) > 0 {
		c.short = true
	}
	if is == nil {
		if c.room != nil {
			c.room.Remove(old)
		}
		return
	}
	set(c.onNode, is.Spec.NodeName, name, is)
	set(c.inSpace, is.Namespace, name, is)
	c.byUID[is.UID] = is
	if c.room != nil {
		_ = c.room.Add(is)
	}
	switch {
	case is.DeletionTimestamp != nil:
		if old == nil || old.DeletionTimestamp == nil || !old.DeletionTimestamp.Equal(*is.DeletionTimestamp) || len(old.Finalizers) != len(is.Finalizers) {
			c.due.Add("end "+name, *is.DeletionTimestamp)
		}
	case is.Spec.NodeName == "" && !c.options.Still:
		c.due.Add("place "+name, c.Now())
	}
}

func set(index map[string]map[string]*fairlead.Pod, by, name string, p *fairlead.Pod) {
	if index[by] == nil {
		index[by] = map[string]*fairlead.Pod{}
	}
	index[by][name] = p
}

// nodeChanged handles the creation, change or deletion of a node.
func (c *Cluster) nodeChanged(name string, old, is *fairlead.Node) {
	if is == nil {
		c.takesPods(name, false)
		if c.room != nil {
			c.room.RemoveNode(name)
		}
		return
	}
	if is.Spec.ProviderID != "" {
		c.provided[is.Spec.ProviderID] = name
	}
	if c.room != nil && is != old {
		_ = c.room.SetNode(is)
	}
	if outOfService(is) {
		c.due.Add("out "+name, c.Now())
	}
	mute := c.mute(is)
	c.takesPods(name, !is.Spec.Unschedulable && !mute && is.DeletionTimestamp == nil)
	if mute || len(c.onNode[name]) == 0 {
		return
	}
	now := c.Now()
	for _, p := range c.onNode[name] { // pods that waited for the kubelet
		switch {
		case p.DeletionTimestamp != nil:
			c.due.Add("end "+p.ObjectMeta.String(), later(now, *p.DeletionTimestamp))
		case p.Status.Phase == fairlead.PodPending && !c.bound[p.UID].IsZero():
			c.due.Add("ready "+p.ObjectMeta.String(), later(now, c.bound[p.UID].Add(or(c.options.PodStartup, 10*time.Second))))
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// takesPods records whether pods may be placed on a node. Waiting pods are tried
// at once when a node opens.
func (c *Cluster) takesPods(node string, is bool) {
	i, was := slices.BinarySearch(c.open, node)
	switch {
	case is && !was:
		c.open = slices.Insert(c.open, i, node)
		for _, p := range c.onNode[""] {
			c.due.Add("place "+p.ObjectMeta.String(), c.Now())
		}
	case was && !is:
		c.open = slices.Delete(c.open, i, i+1)
	}
}
