package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/cluster"
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
	defer b.unlock()
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
		return b.all.DeleteInstance(machine, b.InstanceDelay), nil
	case DeleteNode:
		return b.deleteNode(a)
	case drain.Cordon:
		return b.cordon(a.Node, a.UID, true, a.Mark)
	case drain.Uncordon:
		return b.cordon(a.Node, a.UID, false, "")
	case drain.Evict:
		return b.end(a.UID, a.Namespace, a.Name, a.GracePeriodSeconds, now, true)
	case drain.DeletePod:
		return b.end(a.UID, a.Namespace, a.Name, a.GracePeriodSeconds, now, false)
	}
	return false, fmt.Errorf("action %T is not known", action)
}

func (b *MemBackend) updateStatus(machine string, a UpdateStatus) (bool, error) {
	old := cluster.Ref(b.all, machines(), machine)
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
	old := cluster.Ref(b.all, machines(), machine)
	if old == nil || !slices.Contains(old.Finalizers, a.Finalizer) {
		return false, nil
	}
	m := *old
	m.Finalizers = slices.DeleteFunc(slices.Clone(old.Finalizers), func(f string) bool { return f == a.Finalizer })
	b.keep(old, m)
	return true, nil
}

// cordon has a node take no pods, or take them again, and notes whose doing it is.
func (b *MemBackend) cordon(node, uid string, is bool, mark string) (bool, error) {
	n := cluster.Ref(b.all, cluster.Nodes(), node)
	if n == nil || n.UID != uid {
		return false, &fairlead.RefusedError{Code: 404, Message: "there is no node " + node + " with UID " + uid}
	}
	if n.Spec.Unschedulable == is {
		return false, nil
	}
	c := *n
	c.Spec.Unschedulable = is
	c.Annotations = maps.Clone(n.Annotations)
	delete(c.Annotations, drain.CordonAnnotation)
	if mark != "" {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[drain.CordonAnnotation] = mark
	}
	cluster.Put(b.all, cluster.Nodes(), &c)
	return true, nil
}

// deleteNode removes a node; the pods that were on it are gone.
func (b *MemBackend) deleteNode(a DeleteNode) (bool, error) {
	n := cluster.Ref(b.all, cluster.Nodes(), a.Name)
	if n == nil {
		return false, nil
	}
	if n.UID != a.UID {
		return false, &fairlead.RefusedError{Code: 409, Message: "node " + a.Name + " is another one"}
	}
	b.all.RemoveNode(a.Name)
	return true, nil
}

// end asks a pod to end, if its budgets allow it, should they be asked.
func (b *MemBackend) end(uid, namespace, name string, grace *int64, now time.Time, evict bool) (bool, error) {
	p := b.all.PodOf(uid)
	if p == nil || p.Namespace != namespace || p.Name != name {
		return false, &fairlead.RefusedError{Code: 404, Message: "there is no pod " + namespace + "/" + name + " with UID " + uid}
	}
	if evict {
		if err := b.judge(p); err != nil {
			return false, err
		}
	}
	seconds := cluster.Grace(p, grace)
	return b.all.End(p, now.Add(time.Duration(seconds)*time.Second).Truncate(time.Second), seconds, nil), nil
}

// judge asks the budgets of a pod whether it may be evicted.
func (b *MemBackend) judge(p *Pod) error {
	switch budgets, verdict := b.all.Guards(p); verdict {
	case object.EvictionUnguarded, object.EvictionAllowed:
		return nil
	case object.EvictionUnsupported:
		return &fairlead.RefusedError{Code: 500, Message: "the pod has more than one disruption budget, and the API knows what to do with one"}
	default:
		s := budgets[0].Status
		return &fairlead.RefusedError{Code: 429, Message: fmt.Sprintf("disruption budget %s needs %d healthy pods and has %d", budgets[0].Name, s.DesiredHealthy, s.CurrentHealthy)}
	}
}
