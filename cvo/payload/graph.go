package payload

// Graph is the order in which tasks may be carried out: nodes, each a sequence
// of tasks, and edges between them. The tasks of a node go one by one; a node
// may begin when all those before it are done. It is not changed once made.
type Graph struct {
	Tasks []*Manifest // what the graph was made of, in load order
	Nodes []Node      // nodes refer to each other by their index here
}

// Node is tasks that go one by one. A node without tasks only joins others.
type Node struct {
	First int   // index of the first task; those of a node stand side by side in load order
	Count int   // how many tasks there are
	In    []int // the nodes that must be done before, ascending; shared, do not change it
	Out   []int // the nodes that wait for this one, ascending; shared, do not change it
}

// GraphOptions say how tasks are ordered. The zero value is the order of an
// update.
type GraphOptions struct {
	// Flatten gives up the order of runlevels: the tasks of each component in a
	// runlevel are one node, and nodes do not wait for each other. A cluster is
	// installed and reconciled like this.
	Flatten bool
	// Shuffle puts the groups that may run side by side into an order drawn from
	// Seed, so that nothing comes to rely on their order.
	Shuffle bool
	// Seed is what Shuffle draws from.
	Seed uint64
	// Step of Stride rotates those groups: by Step places if there are fewer than
	// Stride of them, else by that fraction. A zero Stride rotates nothing.
	Step, Stride int
}

// reconcileStride is how many attempts share one shuffled order, each rotated
// on by that fraction.
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

// NewGraph orders tasks, which are manifests in load order. Nil options are the
// zero ones.
//
//  1. A batch Job waits for all tasks before it, and all behind wait for it.
//  2. Between Jobs, tasks side by side in load order whose files are of one
//     runlevel are a level if they are of several components. Each component is
//     a node, its tasks in load order, and the nodes of a level run in parallel.
//  3. All other tasks side by side are one node: levels of one component, and
//     files outside of the grammar of names.
//  4. Each level, and each such node, waits for all of the one before it.
//
// Where a level follows another, a node without tasks stands between them, so
// that there are as many edges as nodes and not their product. The order of the
// nodes is that of the reference.
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
