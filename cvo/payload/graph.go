package payload

// Graph is the order in which tasks may be carried out: nodes, each a sequence of
// tasks, and edges between them. The tasks of a node run one by one; a node may
// begin when all those before it are done. It is immutable.
type Graph struct {
	Tasks []*Manifest // the tasks, in load order
	Nodes []Node      // nodes refer to each other by their index here
}

// Node is a sequence of tasks. A node without tasks only joins others.
type Node struct {
	First int   // index of the first task; those of a node are adjacent in load order
	Count int   // how many tasks there are
	In    []int // the nodes that must be done before, ascending; shared, do not change it
	Out   []int // the nodes that wait for this one, ascending; shared, do not change it
}

// GraphOptions say how tasks are ordered. The zero value is the order of an
// update.
type GraphOptions struct {
	// Flatten ignores the order of runlevels: the tasks of each component in a
	// runlevel are one node, and nodes do not wait for each other. This is how a
	// cluster is installed and reconciled.
	Flatten bool
	// Shuffle puts the groups that may run in parallel into a random order drawn
	// from Seed, so that nothing can rely on their order.
	Shuffle bool
	// Seed is the seed of Shuffle.
	Seed uint64
	// Step of Stride rotates those groups: by Step places if there are fewer than
	// Stride of them, else by that fraction. A zero Stride rotates nothing.
	Step, Stride int
}

// reconcileStride is how many attempts share one shuffled order, each rotated by
// another fraction.
const reconcileStride = 8

// ReconcileOptions returns the options of an attempt, from 0, to reconcile a
// cluster: flattened, and in another order each time.
func ReconcileOptions(attempt int) *GraphOptions {
	attempt = max(attempt, 0)
	return &GraphOptions{
		Flatten: true, Shuffle: true, Seed: uint64(attempt / reconcileStride),
		Step: attempt % reconcileStride, Stride: reconcileStride,
	}
}

// NewGraph orders tasks, which are manifests in load order. Nil options mean the
// defaults.
//
//  1. A batch Job waits for all tasks before it, and all tasks after it wait for
//     it.
//  2. Between Jobs, adjacent tasks in load order whose files have one runlevel
//     are a level if they are from several components. Each component is a node,
//     its tasks in load order, and the nodes of a level run in parallel.
//  3. All other adjacent tasks are one node: levels of one component, and files
//     outside the grammar of names.
//  4. Each level, and each such node, waits for all of the one before it.
//
// Between two adjacent levels there is a node without tasks, so that the number
// of edges is the sum of the nodes and not their product. The order of the nodes
// is that of the reference.
func NewGraph(tasks []*Manifest, opts *GraphOptions) *Graph {
	if opts == nil {
		opts = &GraphOptions{}
	}
	b := builder{tasks: tasks, opts: opts, groups: make([]span, 0, len(tasks)), levels: make([]int, 0, 64)}
	b.jobs()
	for i := range b.parts {
		b.divide(&b.parts[i])
	}
	return &Graph{Tasks: tasks, Nodes: b.finish()}
}
