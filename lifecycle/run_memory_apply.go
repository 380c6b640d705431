package lifecycle

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/cluster"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// Apply implements Backend.
func (b *MemBackend) Apply(ctx context.Context, machine string, action Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if a, ok := action.(drain.Action); ok {
		node := drain.MemBackend{Cluster: b.view, Changed: func(_ string, a drain.Action) { b.tell(machine, a) }}
		return node.Apply(ctx, "", a)
	}
	b.lock()
	defer b.unlock()
	changed, err := b.apply(machine, action)
	if changed {
		b.tell(machine, action)
	}
	return err
}

func (b *MemBackend) tell(machine string, action Action) {
	if b.Changed != nil {
		b.Changed(machine, action)
	}
}

func (b *MemBackend) apply(machine string, action Action) (changed bool, err error) {
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
	case DeleteObject:
		return b.deleteObject(machine, a)
	case DeleteNode:
		return b.deleteNode(a)
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

// deleteNode removes a node; the pods that were on it are gone.
func (b *MemBackend) deleteNode(a DeleteNode) (bool, error) {
	n := cluster.Ref(b.all, cluster.Nodes(), a.Name)
	if n == nil {
		return false, nil
	}
	if n.UID != a.UID {
		return false, &fairlead.RefusedError{Code: 409, Message: "node " + a.Name + " was replaced"}
	}
	b.all.RemoveNode(a.Name)
	return true, nil
}
