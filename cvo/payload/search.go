package payload

import (
	"slices"
	"time"
)

// maxSearch is the number of tasks up to which the shortest schedule is
// searched for, and maxSteps the maximum number of choices that are tried.
const (
	maxSearch = 12
	maxSteps  = 200_000
)

// search replaces a schedule by the shortest one in which no worker is idle
// while a task is ready. At each step it tries which of the ready tasks to
// begin, and prunes choices that cannot become shorter than the best so far.
func (g *Graph) search(s *Schedule, durations []time.Duration) {
	x := &searcher{graph: g, durations: durations, workers: s.Workers, best: s.Total, lower: s.Lower(), steps: maxSteps}
	x.tails, _ = g.tails(durations)
	x.waits = make([]int, len(g.Nodes))
	x.next = make([]int, len(g.Nodes))
	x.of = make([]int, len(g.Tasks))
	for i := range g.Nodes {
		x.waits[i], x.next[i] = len(g.Nodes[i].In), g.Nodes[i].First
		for t := range g.Nodes[i].Count {
			x.of[g.Nodes[i].First+t] = i
		}
	}
	for i := range g.Nodes {
		if len(g.Nodes[i].In) == 0 {
			x.enter(i)
		}
	}
	x.choose(0, 0, s.Work)
	if x.found != nil {
		s.Slots, s.Total = x.found, x.best
		slices.SortFunc(s.Slots, Slot.compare)
	}
	s.Optimal = x.steps > 0
}

// searcher is one search.
type searcher struct {
	graph     *Graph
	durations []time.Duration
	tails     []time.Duration
	workers   int
	of        []int  // by task: its node
	waits     []int  // by node: how many before it are not done
	next      []int  // by node: its next task
	ready     []int  // nodes whose next task may begin, ascending
	under     []Slot // running tasks
	slots     []Slot // started tasks
	best      time.Duration
	lower     time.Duration
	found     []Slot // the shortest, if it is shorter than the given one
	steps     int
}

// choose begins ready tasks at the given time, those from index from on, until
// no worker or no task is left; left is the work that has not begun.
func (x *searcher) choose(from int, now, left time.Duration) {
	if x.steps--; x.steps <= 0 || x.best == x.lower {
		return
	}
	if len(x.under) == x.workers || len(x.ready) == 0 {
		x.advance(now, left)
		return
	}
	if len(x.ready)-from < 1 {
		return // a worker would be idle: the tasks before from were skipped
	}
	for i := from; i < len(x.ready); i++ {
		node := x.ready[i]
		task := x.next[node]
		if now+x.tails[task] >= x.best {
			return // it can only begin later, so nothing gets shorter
		}
		slot := Slot{Task: task, Worker: x.idle(), Start: now, End: now + x.durations[task]}
		x.ready = slices.Delete(x.ready, i, i+1)
		x.under, x.slots = append(x.under, slot), append(x.slots, slot)
		x.choose(i, now, left-x.durations[task])
		x.under, x.slots = x.under[:len(x.under)-1], x.slots[:len(x.slots)-1]
		x.ready = slices.Insert(x.ready, i, node)
	}
}

// idle returns the first worker who has nothing to do.
func (x *searcher) idle() int {
	for w := 0; ; w++ {
		if !slices.ContainsFunc(x.under, func(s Slot) bool { return s.Worker == w }) {
			return w
		}
	}
}

// advance moves the time to when a task ends.
func (x *searcher) advance(now, left time.Duration) {
	if len(x.under) == 0 {
		if now < x.best {
			x.best, x.found = now, slices.Clone(x.slots)
		}
		return
	}
	now, busy := x.under[0].End, time.Duration(0)
	for _, s := range x.under {
		now = min(now, s.End)
	}
	for _, s := range x.under {
		busy += s.End - now
	}
	if w := time.Duration(x.workers); now+(left+busy+w-1)/w >= x.best {
		return
	}
	under, ready := slices.Clone(x.under), slices.Clone(x.ready)
	waits, next := slices.Clone(x.waits), slices.Clone(x.next)
	x.under = x.under[:0:0]
	for _, s := range under {
		if s.End > now {
			x.under = append(x.under, s)
			continue
		}
		x.next[x.of[s.Task]]++
		x.enter(x.of[s.Task])
	}
	x.choose(0, now, left)
	x.under, x.ready, x.waits, x.next = under, ready, waits, next
}

// enter makes a node ready if it waits for no other, or, if it has no task
// left, those that wait only for it.
func (x *searcher) enter(node int) {
	n := &x.graph.Nodes[node]
	if x.next[node] < n.First+n.Count {
		at, _ := slices.BinarySearch(x.ready, node)
		x.ready = slices.Insert(x.ready, at, node)
		return
	}
	for _, to := range n.Out {
		if x.waits[to]--; x.waits[to] == 0 {
			x.enter(to)
		}
	}
}
