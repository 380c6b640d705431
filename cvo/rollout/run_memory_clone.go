package rollout

import (
	"maps"
	"slices"
)

// clone returns a copy that shares nothing with w.
func clone(w *World) *World {
	c := *w
	c.Pool = clonePool(&w.Pool)
	c.Build = clonePointer(w.Build)
	c.Nodes, c.Peers = cloneNodes(w.Nodes), cloneNodes(w.Peers)
	if w.PeerPool != nil {
		p := clonePool(w.PeerPool)
		c.PeerPool = &p
	}
	return &c
}

func clonePool(p *Pool) Pool {
	c := *p
	c.ObjectMeta = cloneMeta(p.ObjectMeta)
	c.Spec.MaxUnavailable = clonePointer(p.Spec.MaxUnavailable)
	if s := p.Spec.NodeSelector; s != nil {
		c.Spec.NodeSelector = &LabelSelector{MatchLabels: maps.Clone(s.MatchLabels), MatchExpressions: slices.Clone(s.MatchExpressions)}
		for i := range s.MatchExpressions {
			c.Spec.NodeSelector.MatchExpressions[i].Values = slices.Clone(s.MatchExpressions[i].Values)
		}
	}
	c.Status.Conditions = slices.Clone(p.Status.Conditions)
	return c
}

func cloneNodes(list []Node) []Node {
	list = slices.Clone(list)
	for i := range list {
		n := &list[i]
		n.ObjectMeta = cloneMeta(n.ObjectMeta)
		n.Spec.Taints = slices.Clone(n.Spec.Taints)
		for k := range n.Spec.Taints {
			n.Spec.Taints[k].TimeAdded = clonePointer(n.Spec.Taints[k].TimeAdded)
		}
		n.Status.Conditions = slices.Clone(n.Status.Conditions)
		n.Status.Addresses = slices.Clone(n.Status.Addresses)
		n.Status.VolumesAttached = slices.Clone(n.Status.VolumesAttached)
	}
	return list
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
