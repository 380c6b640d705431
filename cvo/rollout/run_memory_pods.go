package rollout

import (
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// drains reports whether the engine drains nodes, rather than DrainTime.
func (b *MemBackend) drains() bool { return b.Cluster != nil && b.DrainTime == nil }

// podsOf returns the pods on those of the nodes that are to be drained.
func (b *MemBackend) podsOf(nodes []Node) []NodePods {
	var all []NodePods
	for i := range nodes {
		if n := &nodes[i]; Draining(n) {
			view := drain.View{Budgets: b.all.Measured()}
			for _, p := range b.all.PodsOn(n.Name) {
				view.Pods = append(view.Pods, *p)
			}
			all = append(all, NodePods{Name: n.Name, View: view})
		}
	}
	return all
}

// remove removes a pod.
func (b *MemBackend) remove(pool string, action Action) error {
	var changed bool
	var err error
	switch a := action.(type) {
	case drain.Evict:
		changed, err = b.all.EndPod(a.Namespace, a.Name, a.UID, a.GracePeriodSeconds, true)
	case drain.DeletePod:
		changed, err = b.all.EndPod(a.Namespace, a.Name, a.UID, a.GracePeriodSeconds, false)
	}
	if changed {
		b.tell(pool, action)
	}
	return err
}
