package rollout

import (
	"maps"
	"slices"
)

// clone returns a copy that shares nothing with w.
func clone(w *World) *World {
	c := *w
	c.Pool.ObjectMeta = cloneMeta(w.Pool.ObjectMeta)
	c.Pool.Spec.MaxUnavailable = clonePointer(w.Pool.Spec.MaxUnavailable)
	if s := w.Pool.Spec.NodeSelector; s != nil {
		c.Pool.Spec.NodeSelector = &LabelSelector{MatchLabels: maps.Clone(s.MatchLabels), MatchExpressions: slices.Clone(s.MatchExpressions)}
		for i := range s.MatchExpressions {
			c.Pool.Spec.NodeSelector.MatchExpressions[i].Values = slices.Clone(s.MatchExpressions[i].Values)
		}
	}
	c.Pool.Status.Conditions = slices.Clone(w.Pool.Status.Conditions)
	c.Nodes = slices.Clone(w.Nodes)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		n.ObjectMeta = cloneMeta(n.ObjectMeta)
		n.Spec.Taints = slices.Clone(n.Spec.Taints)
		for k := range n.Spec.Taints {
			n.Spec.Taints[k].TimeAdded = clonePointer(n.Spec.Taints[k].TimeAdded)
		}
		n.Status.Conditions = slices.Clone(n.Status.Conditions)
		n.Status.Addresses = slices.Clone(n.Status.Addresses)
		n.Status.VolumesAttached = slices.Clone(n.Status.VolumesAttached)
	}
	return &c
}

func cloneMeta(m ObjectMeta) ObjectMeta {
	m.Labels, m.Annotations = maps.Clone(m.Labels), maps.Clone(m.Annotations)
	m.OwnerReferences, m.Finalizers = slices.Clone(m.OwnerReferences), slices.Clone(m.Finalizers)
	for i := range m.OwnerReferences {
		m.OwnerReferences[i].Controller = clonePointer(m.OwnerReferences[i].Controller)
	}
	m.DeletionTimestamp = clonePointer(m.DeletionTimestamp)
	m.DeletionGracePeriodSeconds = clonePointer(m.DeletionGracePeriodSeconds)
	return m
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
