package diagnosis

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints/placement"
)

// ground is where pods are: one for all worlds of a diagnosis, each of which changes only what
// differs from the one before.
type ground struct {
	now  tract // nodes as they are
	well tract // nodes as if nothing were wrong with them
}

// tract is a cluster, with the nodes and pods that are in it.
type tract struct {
	cluster *placement.Cluster
	nodes   []fairlead.Node
	pods    []fairlead.Pod
}

// places returns the nodes and pods of a world as they are.
func (w *world) places() *placement.Cluster { return w.ground.now.settle(w, nil) }

// wellPlaces returns them as if nothing were wrong with any node.
func (w *world) wellPlaces() *placement.Cluster { return w.ground.well.settle(w, opened) }

// opened returns a node as if nothing were wrong with it.
func opened(n *fairlead.Node) *fairlead.Node {
	if !n.Spec.Unschedulable && !slices.ContainsFunc(n.Spec.Taints, passing) {
		return n
	}
	open := *n
	open.Spec.Unschedulable = false
	open.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), passing)
	return &open
}

// settle makes a tract have the nodes and pods of a world; look returns a node as it counts. What
// cannot be read counts as nothing.
func (t *tract) settle(w *world, look func(*fairlead.Node) *fairlead.Node) *placement.Cluster {
	if look == nil {
		look = func(n *fairlead.Node) *fairlead.Node { return n }
	}
	if t.cluster == nil {
		t.cluster = placement.New(&placement.Options{Namespaces: w.namespaces, RoomUntold: true, Storage: w.storage.known})
	}
	if !same(t.nodes, w.nodes) {
		t.setNodes(w, look)
	}
	if !same(t.pods, w.pods) {
		t.setPods(w)
	}
	return t.cluster
}

// same reports whether two lists are one.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// setNodes adds, replaces and removes nodes.
func (t *tract) setNodes(w *world, look func(*fairlead.Node) *fairlead.Node) {
	if len(t.nodes) == len(w.nodes) {
		for i := range w.nodes {
			if old, n := &t.nodes[i], &w.nodes[i]; old.Name != n.Name || old.Spec.Unschedulable != n.Spec.Unschedulable || !slices.Equal(old.Spec.Taints, n.Spec.Taints) {
				_ = t.cluster.SetNode(look(n))
			}
		}
	} else {
		for _, name := range w.indexed().nodes {
			_ = t.cluster.SetNode(look(w.node(name)))
		}
	}
	for i := range t.nodes {
		if w.node(t.nodes[i].Name) == nil {
			t.cluster.RemoveNode(t.nodes[i].Name)
		}
	}
	t.nodes = w.nodes
}

// setPods adds, moves and removes pods.
func (t *tract) setPods(w *world) {
	k := 0
	for i := range w.pods {
		p := &w.pods[i]
		is := func() bool { return k < len(t.pods) && t.pods[k].Name == p.Name && t.pods[k].Namespace == p.Namespace }
		for !is() && k < len(t.pods) && w.pod(t.pods[k].Namespace, t.pods[k].Name) == nil {
			t.cluster.Remove(&t.pods[k])
			k++
		}
		if is() {
			old := &t.pods[k]
			k++
			if old.Spec.NodeName == p.Spec.NodeName && old.Finished() == p.Finished() && (old.DeletionTimestamp == nil) == (p.DeletionTimestamp == nil) {
				continue
			}
		}
		_ = t.cluster.Add(p)
	}
	for ; k < len(t.pods); k++ {
		if w.pod(t.pods[k].Namespace, t.pods[k].Name) == nil {
			t.cluster.Remove(&t.pods[k])
		}
	}
	t.pods = w.pods
}
