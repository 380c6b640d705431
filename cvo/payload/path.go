package payload

import "time"

// order returns the nodes such that each comes after those it waits for.
func (g *Graph) order() []int {
	waits := make([]int, len(g.Nodes))
	order := make([]int, 0, len(g.Nodes))
	for i := range g.Nodes {
		if waits[i] = len(g.Nodes[i].In); waits[i] == 0 {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, to := range g.Nodes[order[k]].Out {
			if waits[to]--; waits[to] == 0 {
				order = append(order, to)
			}
		}
	}
	return order
}

// tails returns, for each task and each node, the longest path from its
// beginning to the end.
func (g *Graph) tails(durations []time.Duration) (tasks, nodes []time.Duration) {
	tasks = make([]time.Duration, len(g.Tasks))
	nodes = make([]time.Duration, len(g.Nodes))
	order := g.order()
	for k := len(order) - 1; k >= 0; k-- {
		n := &g.Nodes[order[k]]
		way := time.Duration(0)
		for _, to := range n.Out {
			way = max(way, nodes[to])
		}
		for t := n.First + n.Count - 1; t >= n.First; t-- {
			way += durations[t]
			tasks[t] = way
		}
		nodes[order[k]] = way
	}
	return tasks, nodes
}

// CriticalPath returns tasks of which each waits for the one before and which
// together take longest, and how long they take: no number of workers is
// faster. Of equally long paths it returns the one through the lowest nodes.
// Missing or negative durations count as zero.
func (g *Graph) CriticalPath(durations []time.Duration) (tasks []int, total time.Duration) {
	_, tails := g.tails(complete(durations, len(g.Tasks)))
	var from []int
	for i := range g.Nodes {
		if len(g.Nodes[i].In) == 0 {
			from = append(from, i)
		}
	}
	for len(from) > 0 {
		best := from[0]
		for _, i := range from {
			if tails[i] > tails[best] {
				best = i
			}
		}
		total = max(total, tails[best])
		n := &g.Nodes[best]
		for t := n.First; t < n.First+n.Count; t++ {
			tasks = append(tasks, t)
		}
		from = n.Out
	}
	return tasks, total
}

// complete returns durations for n tasks.
func complete(durations []time.Duration, n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range min(n, len(durations)) {
		all[i] = max(durations[i], 0)
	}
	return all
}
