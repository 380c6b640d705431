package lifecycle

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/cluster"
)

// addObjects creates the objects that a machine refers to, if they do not exist.
func (b *MemBackend) addObjects(m *Machine) {
	if m.Spec.InfrastructureRef == nil && m.Spec.Bootstrap == nil {
		return
	}
	refs := []*ObjectRef{m.Spec.InfrastructureRef}
	if m.Spec.Bootstrap != nil {
		refs = append(refs, m.Spec.Bootstrap.ConfigRef)
	}
	name := m.String()
	for _, ref := range refs {
		if ref == nil || slices.ContainsFunc(b.objects[name], func(o Object) bool { return o.Kind == ref.Kind && o.Name == ref.Name }) {
			continue
		}
		o := Object{Kind: ref.Kind, State: InstanceExists}
		o.Namespace, o.Name, o.UID = m.Namespace, ref.Name, b.all.UID(ref.Kind)
		b.objects[name] = append(slices.Clip(b.objects[name]), o)
	}
}

// EditObject changes an object that a machine refers to, by its kind, as its
// provider would: f may set and remove finalizers, or make its State unknown.
func (b *MemBackend) EditObject(machine, kind string, f func(o *Object)) error {
	b.lock()
	defer b.unlock()
	all := slices.Clone(b.objects[machine])
	i := slices.IndexFunc(all, func(o Object) bool { return o.Kind == kind })
	if i < 0 {
		return fmt.Errorf("machine %s refers to no %s", machine, kind)
	}
	f(&all[i])
	b.objects[machine] = all
	return nil
}

// objectsOf returns the current objects that a machine refers to: a deleted one stays
// as long as it has finalizers, or what it stands for exists.
func (b *MemBackend) objectsOf(m *Machine) []Object {
	name := m.String()
	all := slices.Clone(b.objects[name])
	for i := range all {
		o := &all[i]
		stands := m.Spec.InfrastructureRef != nil && o.Kind == m.Spec.InfrastructureRef.Kind && b.all.HasInstance(name)
		if o.State == InstanceExists && o.DeletionTimestamp != nil && len(o.Finalizers) == 0 && !stands {
			o.State = InstanceGone
		}
	}
	return all
}

func (b *MemBackend) deleteObject(machine string, a DeleteObject) (bool, error) {
	all := slices.Clone(b.objects[machine])
	i := slices.IndexFunc(all, func(o Object) bool { return o.Kind == a.Kind && o.Name == a.Name && o.UID == a.UID })
	if i < 0 {
		return false, &fairlead.RefusedError{Code: 404, Message: "there is no " + a.Kind + " " + a.Name + " with UID " + a.UID}
	}
	if m := cluster.Ref(b.all, machines(), machine); m != nil && m.Spec.InfrastructureRef != nil && m.Spec.InfrastructureRef.Kind == a.Kind {
		b.all.DeleteInstance(machine, b.InstanceDelay)
	}
	if all[i].DeletionTimestamp != nil {
		return false, nil
	}
	at := b.all.Now()
	all[i].DeletionTimestamp = &at
	b.objects[machine] = all
	return true, nil
}
