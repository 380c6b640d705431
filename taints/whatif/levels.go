package whatif

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/object"
)

// Workload is what owns pods that are evicted, or no longer ready: how many are ready, and when that changes.
type Workload struct {
	Namespace string `json:"namespace"`        // of its pods
	Kind      string `json:"kind"`             // as in Deployment; Pod for one without a controller
	Name      string `json:"name"`             // the owner's
	Pods      int    `json:"pods"`             // how many there are at the start
	Budget    string `json:"budget,omitempty"` // the first budget that selects its pods, as namespace/name
	Required  int    `json:"required"`         // how many healthy pods that budget requires
	// Levels are how many pods are ready: the first at the start, the others when it changes.
	Levels []Level `json:"levels"`
}

// Level is how many pods of a workload are ready from a time on.
type Level struct {
	At     time.Time `json:"at"`               // since when
	Ready  int       `json:"ready"`            // they are ready
	Coming int       `json:"coming,omitempty"` // evicted ones that have somewhere to go, and are not ready there yet
	Gone   int       `json:"gone,omitempty"`   // evicted ones that nothing replaces
	Short  bool      `json:"short,omitempty"`  // the budget has fewer healthy pods than it requires
}

// owner identifies a workload.
type owner struct{ namespace, kind, name string }

func ownerOf(p *fairlead.Pod) owner {
	kind, name := object.WorkloadOf(p)
	return owner{p.Namespace, kind, name}
}

// levels are the workloads of a story.
type levels struct {
	of    map[owner]*standing
	order []*standing // by their first change
	by    map[int32][]*standing
}

// standing is how a workload stands.
type standing struct {
	Workload
	budget int32 // -1: none
	now    Level
}

// init counts the pods.
func (l *levels) init(nodes []storyNode, budgets *storyBudgets) {
	l.of, l.by = map[owner]*standing{}, map[int32][]*standing{}
	for i := range nodes {
		for k := range nodes[i].pods {
			p := &nodes[i].pods[k]
			if p.Finished() {
				continue
			}
			o := ownerOf(p)
			w := l.of[o]
			if w == nil {
				w = &standing{Workload: Workload{Namespace: o.namespace, Kind: o.kind, Name: o.name}, budget: -1}
				if of := budgets.index.Of(p, nil); len(of) > 0 {
					w.budget = of[0]
				}
				l.of[o] = w
			}
			w.Pods++
			if p.Ready() {
				w.now.Ready++
			}
		}
	}
}

// change notes that pods of a workload are or are not ready, come back or are gone.
func (s *story) change(p *fairlead.Pod, ready, coming, gone int) {
	l := &s.levels
	w := l.of[ownerOf(p)]
	if w == nil || ready == 0 && coming == 0 && gone == 0 {
		return
	}
	if w.Levels == nil {
		w.now.At = s.out.Start
		w.Levels = []Level{w.now}
		l.order = append(l.order, w)
		if w.budget >= 0 {
			b := &s.budgets.list[w.budget]
			w.Budget, w.Required = b.ObjectMeta.String(), b.Status.DesiredHealthy
			l.by[w.budget] = append(l.by[w.budget], w)
		}
	}
	w.now.Ready, w.now.Coming, w.now.Gone = w.now.Ready+ready, w.now.Coming+coming, w.now.Gone+gone
	s.level(w)
	if w.budget >= 0 {
		for _, other := range l.by[w.budget] {
			s.level(other)
		}
	}
}

// level notes how a workload stands now; of several changes at one time the last counts.
func (s *story) level(w *standing) {
	w.now.At, w.now.Short = s.now, false
	if w.budget >= 0 {
		b := &s.budgets.list[w.budget].Status
		w.now.Short = b.CurrentHealthy < b.DesiredHealthy
	}
	last := &w.Levels[len(w.Levels)-1]
	same := *last
	same.At = w.now.At
	switch {
	case same == w.now:
	case last.At.Equal(w.now.At) && len(w.Levels) > 1:
		*last = w.now
	default:
		w.Levels = append(w.Levels, w.now)
	}
}

// workloads are those that have changed, in the order of their first change.
func (l *levels) workloads() (all []Workload) {
	for _, w := range l.order {
		all = append(all, w.Workload)
	}
	return all
}
