package payload_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo/payload"
	"github.com/fairlead/fairlead/internal/long"
)

// checkSchedule checks a schedule against the graph: all tasks once, none before
// those it waits for, one at a time for each worker, no worker idle while a task
// is ready, and the total within the bounds.
func checkSchedule(g *payload.Graph, durations []time.Duration, s *payload.Schedule) error {
	n := len(g.Tasks)
	start, end := make([]time.Duration, n), make([]time.Duration, n)
	seen := make([]bool, n)
	busy := make(map[int][]payload.Slot)
	for _, slot := range s.Slots {
		if seen[slot.Task] || slot.End-slot.Start != durations[slot.Task] || slot.Worker < 0 || slot.Worker >= s.Workers {
			return fmt.Errorf("slot %+v", slot)
		}
		seen[slot.Task], start[slot.Task], end[slot.Task] = true, slot.Start, slot.End
		busy[slot.Worker] = append(busy[slot.Worker], slot)
	}
	if slices.Contains(seen, false) {
		return fmt.Errorf("task %d is never begun", slices.Index(seen, false))
	}
	for w, slots := range busy {
		slices.SortFunc(slots, func(a, b payload.Slot) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
		for i := 1; i < len(slots); i++ {
			if slots[i].Start < slots[i-1].End {
				return fmt.Errorf("worker %d has tasks %d and %d at a time", w, slots[i-1].Task, slots[i].Task)
			}
		}
	}
	ready := readyTimes(g, end)
	total := time.Duration(0)
	for t := range n {
		total = max(total, end[t])
		if start[t] < ready[t] {
			return fmt.Errorf("task %d begins at %v, and what it waits for ends at %v", t, start[t], ready[t])
		}
	}
	if total != s.Total || total < s.Lower() || total > s.Upper() {
		return fmt.Errorf("the total is %v, said %v, bounds %v and %v", total, s.Total, s.Lower(), s.Upper())
	}
	// A task that is ready and not begun: at each instant of that, all workers
	// must be busy. The number of them changes at ends only.
	instants := slices.Concat(ready, end)
	slices.Sort(instants)
	instants = slices.Compact(instants)
	for _, at := range instants {
		under, waits := 0, 0
		for t := range n {
			switch {
			case start[t] <= at && at < end[t]:
				under++
			case ready[t] <= at && at < start[t]:
				waits++
			}
		}
		if waits > 0 && under < s.Workers {
			return fmt.Errorf("at %v %d of %d workers are busy, and %d tasks are ready", at, under, s.Workers, waits)
		}
	}
	return nil
}

// readyTimes returns when what each task waits for has ended.
func readyTimes(g *payload.Graph, end []time.Duration) []time.Duration {
	ready := make([]time.Duration, len(end))
	memo := make([]time.Duration, len(g.Nodes)) // when each node is done
	known := make([]bool, len(g.Nodes))
	var done func(i int) time.Duration
	done = func(i int) time.Duration {
		if known[i] {
			return memo[i]
		}
		at := time.Duration(0)
		for _, from := range g.Nodes[i].In {
			at = max(at, done(from))
		}
		for t := g.Nodes[i].First; t < g.Nodes[i].First+g.Nodes[i].Count; t++ {
			ready[t] = at
			at = max(at, end[t])
		}
		known[i], memo[i] = true, at
		return at
	}
	for i := range g.Nodes {
		done(i)
	}
	return ready
}

// randomGraph draws a graph: of random files, or of random nodes and edges.
func randomGraph(r *rand.Rand, most int) *payload.Graph {
	tasks := tasksOf(make([]string, 1+r.IntN(most)))
	if r.IntN(2) == 0 {
		for i, m := range tasks {
			m.Name = payload.FileName{Runlevel: fmt.Sprint(i * 3 / len(tasks)), Component: fmt.Sprint(i * 7 / len(tasks))}
			if r.IntN(12) == 0 {
				m.ID.Kind, m.ID.Group = "Job", "batch"
			}
		}
		return payload.NewGraph(tasks, &payload.GraphOptions{Flatten: r.IntN(3) == 0})
	}
	g := &payload.Graph{Tasks: tasks}
	for at := 0; at < len(tasks); {
		n := min(r.IntN(4), len(tasks)-at)
		g.Nodes = append(g.Nodes, payload.Node{First: at, Count: n})
		at += n
	}
	for to := range g.Nodes {
		for from := range to {
			if r.IntN(4) == 0 {
				g.Nodes[to].In = append(g.Nodes[to].In, from)
				g.Nodes[from].Out = append(g.Nodes[from].Out, to)
			}
		}
	}
	return g
}

func randomDurations(r *rand.Rand, n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = time.Duration(r.IntN(7)) * time.Second
		if r.IntN(6) == 0 {
			all[i] *= 4
		}
	}
	return all
}

// brute is the shortest total of all schedules, found by trying everything: at
// each end of a task, every set of ready tasks that fits. With idle, workers may
// be left idle on purpose.
type brute struct {
	before    [][]int // tasks that each task waits for
	durations []time.Duration
	workers   int
	idle      bool
	best      time.Duration
}

func newBrute(g *payload.Graph, durations []time.Duration, workers int, idle bool) *brute {
	b := &brute{before: make([][]int, len(g.Tasks)), durations: durations, workers: workers, idle: idle, best: 1 << 62}
	reach := closure(g)
	node := make([]int, len(g.Tasks))
	for i, n := range g.Nodes {
		for t := n.First; t < n.First+n.Count; t++ {
			node[t] = i
		}
	}
	for t := range g.Tasks {
		for u := range g.Tasks {
			if node[u] == node[t] && u < t || node[u] != node[t] && reach[node[u]][node[t]] {
				b.before[t] = append(b.before[t], u)
			}
		}
	}
	return b
}

// try goes on from an instant: end holds when each task ends, -1 for those that
// have not begun.
func (b *brute) try(now time.Duration, end []time.Duration) {
	if now >= b.best {
		return
	}
	var ready []int
	under, left := 0, 0
	next := time.Duration(1 << 62)
	for t, e := range end {
		switch {
		case e > now:
			under++
			next = min(next, e)
		case e < 0:
			left++
			if !slices.ContainsFunc(b.before[t], func(u int) bool { return end[u] < 0 || end[u] > now }) {
				ready = append(ready, t)
			}
		}
	}
	if left == 0 {
		total := now
		for _, e := range end {
			total = max(total, e)
		}
		b.best = min(b.best, total)
		return
	}
	room := min(b.workers-under, len(ready))
	for set := range 1 << len(ready) {
		size := 0
		for i := range ready {
			size += set >> i & 1
		}
		if size > room || size < room && !b.idle || size == 0 && under == 0 {
			continue
		}
		after, at := slices.Clone(end), next
		for i, t := range ready {
			if set>>i&1 == 1 {
				after[t] = now + b.durations[t]
				at = min(at, after[t])
			}
		}
		b.try(at, after)
	}
}

func (b *brute) shortest() time.Duration {
	end := make([]time.Duration, len(b.durations))
	for i := range end {
		end[i] = -1
	}
	b.try(0, end)
	return b.best
}

// TestSmallSchedules compares the total of small graphs with the shortest of
// all schedules. That no worker idles while a task is ready costs nothing most
// of the time; the test says how often it does.
func TestSmallSchedules(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	all, longer := long.N(600, 20_000), 0
	for seed := range all {
		g := randomGraph(r, 6)
		d, workers := randomDurations(r, len(g.Tasks)), 1+r.IntN(4)
		s := g.Schedule(d, workers)
		if err := checkSchedule(g, d, s); err != nil {
			t.Fatalf("graph %d: %v\n%s", seed, err, printGraph(g))
		}
		if best := newBrute(g, d, workers, false).shortest(); s.Total != best || !s.Optimal {
			t.Fatalf("graph %d: %d workers take %v (optimal %v), the shortest is %v\n%v\n%s", seed, workers, s.Total, s.Optimal, best, d, printGraph(g))
		}
		if newBrute(g, d, workers, true).shortest() < s.Total {
			longer++
		}
	}
	t.Logf("of %d graphs, idle workers would have helped in %d", all, longer)
	if longer > all/20 {
		t.Errorf("of %d graphs, idle workers would have helped in %d", all, longer)
	}
}

// TestSchedules checks schedules of larger graphs.
func TestSchedules(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for seed := range long.N(1_000, 50_000) {
		g := randomGraph(r, 40)
		d := randomDurations(r, len(g.Tasks))
		for _, workers := range []int{1, 2, 4, 16, 0} {
			if err := checkSchedule(g, d, g.Schedule(d, workers)); err != nil {
				t.Fatalf("graph %d, %d workers: %v\n%s", seed, workers, err, printGraph(g))
			}
		}
	}
}

// TestCriticalPath compares the critical path with the longest of all paths,
// tried one by one.
func TestCriticalPath(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for seed := range 500 {
		g := randomGraph(r, 12)
		d := randomDurations(r, len(g.Tasks))
		var longest func(i int) time.Duration
		longest = func(i int) time.Duration {
			total := time.Duration(0)
			for _, to := range g.Nodes[i].Out {
				total = max(total, longest(to))
			}
			for k := range g.Nodes[i].Count {
				total += d[g.Nodes[i].First+k]
			}
			return total
		}
		want := time.Duration(0)
		for i := range g.Nodes {
			want = max(want, longest(i))
		}
		tasks, total := g.CriticalPath(d)
		sum := time.Duration(0)
		for _, task := range tasks {
			sum += d[task]
		}
		b := newBrute(g, d, 1, false)
		for i := 1; i < len(tasks); i++ {
			if !slices.Contains(b.before[tasks[i]], tasks[i-1]) {
				t.Fatalf("graph %d: %d does not wait for %d\n%s", seed, tasks[i], tasks[i-1], printGraph(g))
			}
		}
		if total != want || sum != want {
			t.Fatalf("graph %d: %v takes %v, said %v, want %v\n%s", seed, tasks, sum, total, want, printGraph(g))
		}
	}
}

// TestRun drives random graphs with random ends and failures, and checks that
// whatever is ready begins, that nothing begins too early or behind a failure,
// and that a run that begins again carries out the rest and nothing else.
func TestRun(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for seed := range long.N(2_000, 100_000) {
		g := randomGraph(r, 20)
		opts := &payload.RunOptions{Workers: r.IntN(5)}
		if r.IntN(2) == 0 {
			opts.Durations = randomDurations(r, len(g.Tasks))
		}
		before := newBrute(g, nil, 1, false).before
		done := make([]bool, len(g.Tasks))
		for pass := 0; slices.Contains(done, false); pass++ {
			if pass > 200 {
				t.Fatalf("graph %d is never done", seed)
			}
			opts.Done = done
			if err := drive(r, g, opts, before, done, pass < 100); err != nil {
				t.Fatalf("graph %d: %v\n%s", seed, err, printGraph(g))
			}
		}
	}
}

// drive makes one pass, and marks what it has done.
func drive(r *rand.Rand, g *payload.Graph, opts *payload.RunOptions, before [][]int, done []bool, faults bool) error {
	run := g.Start(opts)
	failed := make([]bool, len(done))
	var under []int
	for {
		for task, ok := run.Next(); ok; task, ok = run.Next() {
			if done[task] || failed[task] || slices.Contains(under, task) || slices.ContainsFunc(before[task], func(b int) bool { return !done[b] }) {
				return fmt.Errorf("task %d begins too early, or again", task)
			}
			under = append(under, task)
		}
		room := opts.Workers == 0 || len(under) < opts.Workers
		for task := range done {
			if room && !done[task] && !failed[task] && !slices.Contains(under, task) && !slices.ContainsFunc(before[task], func(b int) bool { return !done[b] }) {
				return fmt.Errorf("task %d is ready, and does not begin", task)
			}
		}
		if run.Running() != len(under) || opts.Workers > 0 && len(under) > opts.Workers || run.Over() != (len(under) == 0) {
			return fmt.Errorf("%d are under way, said %d, over %v", len(under), run.Running(), run.Over())
		}
		if len(under) == 0 {
			break
		}
		k := r.IntN(len(under))
		task := under[k]
		under = slices.Delete(under, k, k+1)
		if faults && r.IntN(6) == 0 {
			failed[task] = run.Fail(task)
		} else {
			done[task] = run.Done(task)
		}
		if !done[task] && !failed[task] || run.Done(task) || run.Fail(task) {
			return fmt.Errorf("task %d ends twice, or never", task)
		}
	}
	left := 0
	for _, d := range done {
		if !d {
			left++
		}
	}
	if run.Left() != left || len(run.Pending()) != left || run.Done(-1) || run.Done(len(done)) {
		return fmt.Errorf("%d are left, said %d and %v", left, run.Left(), run.Pending())
	}
	return nil
}

// TestLongestWayFirst: of fourteen tasks and a chain of seven, the chain is
// begun at once, although its node is the last; without estimates the lowest
// node comes first.
func TestLongestWayFirst(t *testing.T) {
	var names []string
	for i := range 14 {
		names = append(names, fmt.Sprintf("0000_10_a%02d_0", i))
	}
	for i := range 7 {
		names = append(names, fmt.Sprintf("0000_10_z_%d", i))
	}
	g := payload.NewGraph(tasksOf(names), nil)
	d := make([]time.Duration, len(names))
	for i := range d {
		d[i] = time.Second
	}
	if s := g.Schedule(d, 2); s.Total != 11*time.Second || s.Slots[0].Task != 0 || s.Slots[1].Task != 14 {
		t.Errorf("it takes %v, and begins with %v", s.Total, s.Slots[:2])
	}
	if first, _ := g.Start(nil).Next(); first != 0 {
		t.Errorf("without estimates task %d comes first", first)
	}
}
