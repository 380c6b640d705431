package payload

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/binheap"
)

// RunOptions say how a graph is executed. The zero value is useful.
type RunOptions struct {
	// Workers is how many tasks may run in parallel. Zero means any number.
	Workers int
	// Durations are estimates for the tasks of the graph: of those that are ready,
	// the one with the longest path after it comes first. Nil, or a list of
	// another length, means the order of the nodes, as in the reference.
	Durations []time.Duration
	// Done are the tasks, by index, that were already carried out. Nil means none.
	Done []bool
}

// Run is one pass through a graph: which tasks may begin, which are running. It
// knows no time: whoever carries out tasks calls [Run.Next] until it has none, and
// reports each task that ends. A task is never held back while fewer than Workers
// tasks are running and everything that it waits for is done.
//
// A Run is for one goroutine. It can be rebuilt from the tasks that are done, and
// so need not be stored.
type Run struct {
	graph   *Graph
	workers int
	tails   []time.Duration     // by task: the longest path from its beginning to the end; nil for the order of nodes
	nodes   []progress          // by node
	of      []int32             // by task: its node
	ready   binheap.Heap[int32] // nodes whose next task may begin
	running int
	left    int // tasks that are not done
}

// progress is the progress of a node.
type progress struct {
	waits int32 // nodes before it that are not done
	next  int32 // the task that is next or running; the end if there is none
	state nodeState
}

type nodeState uint8

const (
	nodeWaits nodeState = iota // for other nodes, or in the heap
	nodeRuns                   // its next task is running
	nodeFailed
	nodeDone
)

// Start begins a pass. Nil options mean the defaults.
func (g *Graph) Start(opts *RunOptions) *Run {
	if opts == nil {
		opts = &RunOptions{}
	}
	r := &Run{
		graph: g, workers: opts.Workers, nodes: make([]progress, len(g.Nodes)), of: make([]int32, len(g.Tasks)),
		left: len(g.Tasks),
	}
	r.ready = binheap.Heap[int32]{Items: make([]int32, 0, len(g.Nodes)), Less: r.before}
	if r.workers <= 0 {
		r.workers = len(g.Tasks)
	}
	if opts.Durations != nil && len(opts.Durations) == len(g.Tasks) {
		r.tails, _ = g.tails(complete(opts.Durations, len(g.Tasks)))
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		r.nodes[i] = progress{waits: int32(len(n.In)), next: int32(n.First)}
		for t := n.First; t < n.First+n.Count; t++ {
			r.of[t] = int32(i)
		}
	}
	for i := range g.Nodes {
		p := &r.nodes[i]
		for end := g.Nodes[i].First + g.Nodes[i].Count; int(p.next) < end && int(p.next) < len(opts.Done) && opts.Done[p.next]; p.next++ {
			r.left--
		}
	}
	for i := range g.Nodes {
		if len(g.Nodes[i].In) == 0 {
			r.enter(i)
		}
	}
	return r
}

// enter makes a node ready if it waits for no other, or done if it has no task
// left.
func (r *Run) enter(i int) {
	n := &r.graph.Nodes[i]
	p := &r.nodes[i]
	if p.state != nodeWaits {
		return
	}
	if int(p.next) < n.First+n.Count {
		r.ready.Push(int32(i))
		return
	}
	p.state = nodeDone
	for _, to := range n.Out {
		r.nodes[to].waits--
		if r.nodes[to].waits == 0 {
			r.enter(to)
		}
	}
}

// Next returns the task to begin now, by its index in the graph. It returns false
// if none is ready, or the maximum number is running.
func (r *Run) Next() (task int, ok bool) {
	if len(r.ready.Items) == 0 || r.running >= r.workers {
		return 0, false
	}
	i := r.ready.Pop()
	r.nodes[i].state = nodeRuns
	r.running++
	return int(r.nodes[i].next), true
}

// Done says that a running task has been carried out. For any other task it does
// nothing and returns false.
func (r *Run) Done(task int) bool {
	p := r.underWay(task)
	if p == nil {
		return false
	}
	r.running--
	r.left--
	p.next++
	p.state = nodeWaits
	r.enter(int(r.of[task]))
	return true
}

// Fail says that a running task has failed: tasks that wait for it do not begin in
// this pass. For any other task it does nothing and returns false.
func (r *Run) Fail(task int) bool {
	p := r.underWay(task)
	if p == nil {
		return false
	}
	r.running--
	p.state = nodeFailed
	return true
}

func (r *Run) underWay(task int) *progress {
	if task < 0 || task >= len(r.of) {
		return nil
	}
	if p := &r.nodes[r.of[task]]; p.state == nodeRuns && int(p.next) == task {
		return p
	}
	return nil
}

// Running returns how many tasks are running.
func (r *Run) Running() int { return r.running }

// Left returns how many tasks are not done: those running, those to come, and
// those that failed or wait for failed ones.
func (r *Run) Left() int { return r.left }

// Over reports whether nothing is running and nothing can begin.
func (r *Run) Over() bool { return r.running == 0 && len(r.ready.Items) == 0 }

// Incomplete returns the nodes that are not done, ascending. Nodes without
// tasks are left out.
func (r *Run) Incomplete() []int {
	var nodes []int
	for i := range r.nodes {
		if r.nodes[i].state != nodeDone && r.graph.Nodes[i].Count > 0 {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// Pending returns the tasks that are not done, in load order.
func (r *Run) Pending() []int {
	var tasks []int
	for i := range r.nodes {
		n := &r.graph.Nodes[i]
		for t := int(r.nodes[i].next); t < n.First+n.Count; t++ {
			tasks = append(tasks, t)
		}
	}
	slices.Sort(tasks)
	return tasks
}

// before orders the ready nodes.
func (r *Run) before(a, b int32) bool {
	if r.tails != nil {
		if x, y := r.tails[r.nodes[a].next], r.tails[r.nodes[b].next]; x != y {
			return x > y
		}
	}
	return a < b
}
