package payload

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/binheap"
)

// Slot is when one task is carried out.
type Slot struct {
	Task   int           `json:"task"`   // its index in the graph
	Worker int           `json:"worker"` // who carries it out, from 0
	Start  time.Duration `json:"start"`  // since the beginning
	End    time.Duration `json:"end"`    // since the beginning
}

// Schedule is who carries out which task when.
type Schedule struct {
	Workers int           `json:"workers"`           // how many there are
	Slots   []Slot        `json:"slots"`             // one for each task, by start, then by task
	Total   time.Duration `json:"total"`             // when the last task ends
	Work    time.Duration `json:"work"`              // the time of all tasks together
	Path    time.Duration `json:"path"`              // the time of the critical path
	Optimal bool          `json:"optimal,omitempty"` // it is known that no schedule without idle workers is shorter
}

// Lower returns a lower bound of the time of any schedule with that many workers:
// the critical path, or the work shared evenly.
func (s *Schedule) Lower() time.Duration {
	w := time.Duration(max(s.Workers, 1))
	return max(s.Path, (s.Work+w-1)/w)
}

// Upper returns Graham's bound, which holds for every schedule in which no worker
// is idle while a task is ready: the work shared evenly, plus the part of the
// critical path that the other workers do not share.
func (s *Schedule) Upper() time.Duration {
	w := time.Duration(max(s.Workers, 1))
	return (s.Work + s.Path*(w-1)) / w
}

// Schedule plans who carries out which task when, if tasks take as long as
// durations says. Missing or negative durations count as zero. Zero workers mean
// one for each task.
//
// No worker is idle while a task is ready. Of the ready tasks, the one with the
// longest path after it comes first, so that the total is seldom far from
// [Schedule.Lower] and never above [Schedule.Upper]. For graphs of up to a dozen
// tasks, it searches for the shortest schedule without idle workers.
func (g *Graph) Schedule(durations []time.Duration, workers int) *Schedule {
	durations = complete(durations, len(g.Tasks))
	if workers <= 0 || workers > len(g.Tasks) {
		workers = max(len(g.Tasks), 1)
	}
	s := &Schedule{Workers: workers}
	for _, d := range durations {
		s.Work += d
	}
	_, s.Path = g.CriticalPath(durations)
	s.Slots = list(g.Start(&RunOptions{Workers: workers, Durations: durations}), durations, workers)
	for _, slot := range s.Slots {
		s.Total = max(s.Total, slot.End)
	}
	s.Optimal = s.Total == s.Lower()
	if !s.Optimal && len(g.Tasks) <= maxSearch {
		g.search(s, durations)
	}
	return s
}

// list carries out a run in virtual time.
func list(r *Run, durations []time.Duration, workers int) []Slot {
	slots := make([]Slot, 0, r.left)
	under := binheap.Heap[int]{Less: func(a, b int) bool { return slots[a].End < slots[b].End }}
	idle := binheap.Heap[int]{Less: func(a, b int) bool { return a < b }}
	for w := range workers {
		idle.Push(w)
	}
	for now := time.Duration(0); ; {
		for task, ok := r.Next(); ok; task, ok = r.Next() {
			slots = append(slots, Slot{Task: task, Worker: idle.Pop(), Start: now, End: now + durations[task]})
			under.Push(len(slots) - 1)
		}
		if len(under.Items) == 0 {
			break
		}
		for now = slots[under.Items[0]].End; len(under.Items) > 0 && slots[under.Items[0]].End == now; {
			slot := slots[under.Pop()]
			idle.Push(slot.Worker)
			r.Done(slot.Task)
		}
	}
	slices.SortFunc(slots, Slot.compare)
	return slots
}

// compare orders by start, then by task.
func (s Slot) compare(o Slot) int {
	return cmp.Or(cmp.Compare(s.Start, o.Start), cmp.Compare(s.Task, o.Task))
}
