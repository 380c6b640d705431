package lifecycle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/object"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Apply implements Backend.
func (b *MemBackend) Apply(ctx context.Context, machine string, action Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := b.lock()
	defer b.mu.Unlock()
	changed, err := b.apply(machine, action, now)
	if changed && b.Changed != nil {
		b.Changed(machine, action)
	}
	return err
}

func (b *MemBackend) apply(machine string, action Action, now time.Time) (changed bool, err error) {
	switch a := action.(type) {
	case UpdateStatus:
		return b.updateStatus(machine, a)
	case RecordEvent:
		list := append(b.events[machine], a)
		b.events[machine] = list[max(0, len(list)-100):]
		return true, nil
	case RemoveHook:
		return b.release(machine, a)
	case RemoveFinalizer:
		return b.removeFinalizer(machine, a)
	case DeleteInstance:
		running, there := b.instances[machine]
		if !there || !running {
			return false, nil
		}
		b.instances[machine] = false
		b.due.Add("instance "+machine, now.Add(cmp.Or(max(b.InstanceDelay, 0), time.Minute)))
		return true, nil
	case DeleteNode:
		return b.deleteNode(a)
	case drain.Cordon:
		return b.cordon(a.Node, a.UID, true)
	case drain.Uncordon:
		return b.cordon(a.Node, a.UID, false)
	case drain.Evict:
		return b.end(a.UID, a.Namespace, a.Name, a.GracePeriodSeconds, now, true)
	case drain.DeletePod:
		return b.end(a.UID, a.Namespace, a.Name, a.GracePeriodSeconds, now, false)
	}
	return false, fmt.Errorf("action %T is not known", action)
}

func (b *MemBackend) updateStatus(machine string, a UpdateStatus) (bool, error) {
	old := b.machines[machine]
	switch {
	case old == nil:
		return false, &fairlead.RefusedError{Code: 404, Message: errNoMachine.Error()}
	case old.ResourceVersion != a.Revision:
		return false, &fairlead.RefusedError{Code: 409, Message: errChanged.Error()}
	}
	m := *old
	m.Status.Phase, m.Status.Conditions = a.Phase, a.Conditions
	m.Status.ErrorReason, m.Status.ErrorMessage = a.ErrorReason, a.ErrorMessage
	b.keep(old, m)
	return true, nil
}

func (b *MemBackend) removeFinalizer(machine string, a RemoveFinalizer) (bool, error) {
	old := b.machines[machine]
	if old == nil || !slices.Contains(old.Finalizers, a.Finalizer) {
		return false, nil
	}
	m := *old
	m.Finalizers = slices.DeleteFunc(slices.Clone(old.Finalizers), func(f string) bool { return f == a.Finalizer })
	b.keep(old, m)
	return true, nil
}

func (b *MemBackend) cordon(node, uid string, is bool) (bool, error) {
	n := b.nodes[node]
	if n == nil || n.UID != uid {
		return false, &fairlead.RefusedError{Code: 404, Message: "there is no node " + node + " with UID " + uid}
	}
	if n.Spec.Unschedulable == is {
		return false, nil
	}
	c := *n
	c.Spec.Unschedulable = is
	b.setNode(&c)
	return true, nil
}

// deleteNode removes a node; the pods that were on it are gone.
func (b *MemBackend) deleteNode(a DeleteNode) (bool, error) {
	n := b.nodes[a.Name]
	if n == nil {
		return false, nil
	}
	if n.UID != a.UID {
		return false, &fairlead.RefusedError{Code: 409, Message: "node " + a.Name + " is another one"}
	}
	b.dropNode(a.Name)
	return true, nil
}

func (b *MemBackend) dropNode(name string) {
	delete(b.nodes, name)
	b.takesPods(name, false)
	for _, p := range slices.Clone(b.onNode[name]) {
		b.remove(p.UID)
		b.replace(p)
	}
}

// end asks a pod to end, if its budgets allow it, should they be asked.
func (b *MemBackend) end(uid, namespace, name string, grace *int64, now time.Time, evict bool) (bool, error) {
	p := b.pods[uid]
	if p == nil || p.Namespace != namespace || p.Name != name {
		return false, &fairlead.RefusedError{Code: 404, Message: "there is no pod " + namespace + "/" + name + " with UID " + uid}
	}
	if evict {
		if err := b.judge(p, now); err != nil {
			return false, err
		}
	}
	seconds := int64(30)
	if p.Spec.TerminationGracePeriodSeconds != nil {
		seconds = *p.Spec.TerminationGracePeriodSeconds
	}
	if grace != nil && *grace >= 0 {
		seconds = *grace
	}
	at := now.Add(time.Duration(seconds) * time.Second).Truncate(time.Second)
	if p.DeletionTimestamp != nil && !at.Before(*p.DeletionTimestamp) {
		return false, nil
	}
	c := *p
	c.DeletionTimestamp, c.DeletionGracePeriodSeconds = &at, &seconds
	b.swap(p, &c)
	b.due.Add("end "+uid, at)
	return true, nil
}

// judge asks the budgets of a pod whether it may be evicted.
func (b *MemBackend) judge(p *Pod, now time.Time) error {
	var budgets []*PodDisruptionBudget
	for _, budget := range b.budgets[p.Namespace] {
		if budget.Selects(p) {
			budgets = append(budgets, b.measured(budget, now))
		}
	}
	switch verdict := object.JudgeEviction(p, budgets...); verdict {
	case object.EvictionUnguarded, object.EvictionAllowed:
		return nil
	case object.EvictionUnsupported:
		return &fairlead.RefusedError{Code: 500, Message: "the pod has more than one disruption budget, and the API knows what to do with one"}
	default:
		s := budgets[0].Status
		return &fairlead.RefusedError{Code: 429, Message: fmt.Sprintf("disruption budget %s needs %d healthy pods and has %d", budgets[0].Name, s.DesiredHealthy, s.CurrentHealthy)}
	}
}

// pass lets what is due by now happen.
func (b *MemBackend) pass(now time.Time) {
	for {
		what, ok := b.due.Pop(now)
		if !ok {
			return
		}
		verb, id, _ := strings.Cut(what, " ")
		p := b.pods[id]
		switch {
		case verb == "instance":
			if running, there := b.instances[id]; there && !running {
				delete(b.instances, id)
				b.silence(id, now)
			}
		case verb == "lost":
			if n := b.nodes[id]; n != nil && drain.Unreachable(n) {
				b.dropNode(id)
			}
		case p == nil:
		case verb == "end":
			n := b.nodes[p.Spec.NodeName]
			alive := n == nil || !drain.Unreachable(n)
			if alive && p.DeletionTimestamp != nil && !p.DeletionTimestamp.After(now) && len(p.Finalizers) == 0 {
				b.remove(id)
				b.replace(p)
			}
		case verb == "place":
			b.place(p, now)
		case verb == "ready":
			c := *p
			c.Status.Phase = fairlead.PodRunning
			c.Status.Conditions = fairlead.SetCondition(p.Status.Conditions, fairlead.Condition{Type: "Ready", Status: "True", LastTransitionTime: now})
			b.swap(p, &c)
		}
	}
}

// silence has nothing heard any more of the node of a machine whose instance is
// gone.
func (b *MemBackend) silence(machine string, now time.Time) {
	m := b.machines[machine]
	if m == nil || b.nodeOf(m) == nil {
		return
	}
	n := *b.nodeOf(m)
	n.Status.Conditions = slices.DeleteFunc(slices.Clone(n.Status.Conditions), func(c fairlead.NodeCondition) bool { return c.Type == "Ready" })
	n.Status.Conditions = append(n.Status.Conditions, fairlead.NodeCondition{Type: "Ready", Status: "Unknown", LastTransitionTime: now})
	b.setNode(&n)
	b.due.Add("lost "+n.Name, now.Add(lostAfter))
}

// lostAfter is how long a node stays whose instance is gone, unless somebody
// removes it before: then the cloud's controller does.
const lostAfter = 10 * time.Minute

func comparePodNames(a, b *Pod) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return strings.Compare(a.UID, b.UID)
}

func (b *MemBackend) insert(p *Pod) {
	b.pods[p.UID] = p
	space := b.inSpace[p.Namespace]
	if space == nil {
		space = make(map[string]*Pod)
		b.inSpace[p.Namespace] = space
	}
	space[p.UID] = p
	list := b.onNode[p.Spec.NodeName]
	i, _ := slices.BinarySearchFunc(list, p, comparePodNames)
	b.onNode[p.Spec.NodeName] = slices.Insert(list, i, p)
	if p.Spec.NodeName == "" {
		b.due.Add("place "+p.UID, b.now())
	}
}

func (b *MemBackend) remove(uid string) {
	p := b.pods[uid]
	if p == nil {
		return
	}
	delete(b.pods, uid)
	delete(b.inSpace[p.Namespace], uid)
	list := b.onNode[p.Spec.NodeName]
	if i, ok := slices.BinarySearchFunc(list, p, comparePodNames); ok {
		b.onNode[p.Spec.NodeName] = slices.Delete(list, i, i+1)
	}
}

// swap puts a changed pod in the place of what it was.
func (b *MemBackend) swap(old, changed *Pod) {
	b.remove(old.UID)
	b.insert(changed)
}

// replace has the controller of a pod that is gone make another.
func (b *MemBackend) replace(p *Pod) {
	c := p.ControllerOf()
	if c == nil || c.Kind == "DaemonSet" || p.Finished() {
		return
	}
	n := *p
	serial := b.next()
	n.UID = "pod-" + serial
	base, _, _ := strings.Cut(p.Name, "~")
	n.Name = base + "~" + strconv.Itoa(b.serial)
	n.DeletionTimestamp, n.DeletionGracePeriodSeconds = nil, nil
	n.Spec.NodeName = ""
	n.Status.Phase = fairlead.PodPending
	n.Status.Conditions = nil
	b.insert(&n)
}

// place puts a pod on the next node that takes pods, in turn by name, or tries
// again later.
func (b *MemBackend) place(p *Pod, now time.Time) {
	if p.Spec.NodeName != "" {
		return
	}
	if len(b.open) == 0 {
		b.due.Add("place "+p.UID, now.Add(10*time.Second))
		return
	}
	b.turn = (b.turn + 1) % len(b.open)
	c := *p
	c.Spec.NodeName = b.open[b.turn]
	b.swap(p, &c)
	b.due.Add("ready "+p.UID, now.Add(cmp.Or(max(b.PodStartup, 0), 10*time.Second)))
}

func (b *MemBackend) setNode(n *Node) {
	b.nodes[n.Name] = n
	b.takesPods(n.Name, !n.Spec.Unschedulable && !drain.Unreachable(n))
}

// takesPods notes whether pods may be placed on a node.
func (b *MemBackend) takesPods(node string, is bool) {
	i, was := slices.BinarySearch(b.open, node)
	switch {
	case is && !was:
		b.open = slices.Insert(b.open, i, node)
	case was && !is:
		b.open = slices.Delete(b.open, i, i+1)
	}
}
