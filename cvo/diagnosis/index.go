package diagnosis

import (
	"maps"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// index finds objects of a world by name. It stays right while objects are replaced where they
// are, and keep their names, nodes, labels and selectors.
type index struct {
	nodes    []string // names, sorted
	nodeAt   map[string]int
	podAt    map[objectKey]int
	podsOn   map[string][]int // by node
	budgetAt map[objectKey]int
	budgets  *object.Budgets
	budgetOf [][]int32 // by pod, its budgets
	podsOf   [][]int   // by budget, its pods
}

// objectKey is a namespace and a name.
type objectKey struct{ namespace, name string }

// indexed returns the index of a world; it is made when it is first needed, and shared with
// copies of the world until they change what it holds.
func (w *world) indexed() *index {
	if w.index != nil {
		return w.index
	}
	x := &index{
		nodeAt: make(map[string]int, len(w.nodes)), podAt: make(map[objectKey]int, len(w.pods)), podsOn: make(map[string][]int, len(w.nodes)),
		budgetAt: make(map[objectKey]int, len(w.budgets)), budgetOf: make([][]int32, len(w.pods)), podsOf: make([][]int, len(w.budgets)),
	}
	for i := range w.nodes {
		x.nodeAt[w.nodes[i].Name] = i
		x.nodes = append(x.nodes, w.nodes[i].Name)
	}
	slices.Sort(x.nodes)
	for i := range w.budgets {
		x.budgetAt[objectKey{w.budgets[i].Namespace, w.budgets[i].Name}] = i
	}
	x.budgets, _ = object.NewBudgets(w.budgets)
	var all []int32
	for i := range w.pods {
		p := &w.pods[i]
		x.podAt[objectKey{p.Namespace, p.Name}] = i
		if p.Spec.NodeName != "" {
			x.podsOn[p.Spec.NodeName] = append(x.podsOn[p.Spec.NodeName], i)
		}
		from := len(all)
		all = x.budgets.Of(p, all)
		x.budgetOf[i] = all[from:len(all):len(all)]
		for _, k := range x.budgetOf[i] {
			x.podsOf[k] = append(x.podsOf[k], i)
		}
	}
	w.index = x
	return x
}

// replaced notes that pods came, went or changed their nodes.
func (w *world) replaced() { w.index = nil }

// bound notes that pods, by position, got nodes.
func (w *world) bound(pods []int) {
	if w.index == nil {
		return
	}
	x := *w.index // copies of the world may share it
	x.podsOn = maps.Clone(x.podsOn)
	for _, i := range pods {
		node := w.pods[i].Spec.NodeName
		on := slices.Clone(x.podsOn[node])
		at, _ := slices.BinarySearch(on, i)
		x.podsOn[node] = slices.Insert(on, at, i)
	}
	w.index = &x
}

// node returns a node of the cluster, or nil.
func (w *world) node(name string) *fairlead.Node {
	if i, ok := w.indexed().nodeAt[name]; ok {
		return &w.nodes[i]
	}
	return nil
}

// pod returns a pod, or nil.
func (w *world) pod(namespace, name string) *fairlead.Pod {
	if i, ok := w.indexed().podAt[objectKey{namespace, name}]; ok {
		return &w.pods[i]
	}
	return nil
}

// budget returns a budget, or nil.
func (w *world) budget(namespace, name string) *fairlead.PodDisruptionBudget {
	if i, ok := w.indexed().budgetAt[objectKey{namespace, name}]; ok {
		return &w.budgets[i]
	}
	return nil
}

// budgetsOf returns the positions of the budgets of a pod of the cluster.
func (w *world) budgetsOf(p *fairlead.Pod) []int32 {
	if i, ok := w.indexed().podAt[objectKey{p.Namespace, p.Name}]; ok {
		return w.index.budgetOf[i]
	}
	return w.index.budgets.Of(p, nil)
}
