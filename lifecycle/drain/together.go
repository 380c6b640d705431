package drain

import (
	"time"
)

// Draining is a node that is drained together with others.
type Draining struct {
	Progress Progress          // of its drain
	View     *View             // of the node; neither it nor its Node is nil
	Labels   map[string]string // of the node's machine
}

// Together decides about nodes that are drained at the same time: as [Pods] does for
// each, except that they share the budgets, so that no eviction is requested that
// another node's eviction rules out. Requested evictions that are not seen yet come
// first, on any node; then the nodes in their order. If several views have a budget,
// the first one counts. The decisions are in the order of nodes.
func Together(nodes []Draining, now time.Time, policy *Policy) []NodeDecision {
	type part struct {
		drainer
		open bool
		seen []sighting
	}
	parts := make([]part, len(nodes))
	shared := ledger{budgets: budgetsOf(nodes)}
	shared.used = make([]int, len(shared.budgets))
	for i := range nodes {
		n, p := &nodes[i], &parts[i]
		p.drainer = begin(n.Progress, n.View, now, policy)
		p.ledger = shared // except used, which is the same array
		if p.open = p.opened(n.Labels); p.open {
			p.seen = p.survey(nil)
			p.reserve(p.seen)
		}
	}
	decisions := make([]NodeDecision, len(nodes))
	for i := range parts {
		p := &parts[i]
		if p.open {
			p.turn(p.seen)
		}
		var bad bool
		if decisions[i], bad = p.end(); bad {
			decisions[i].Failure = trouble(decisions[i].Progress.Waits)
		}
	}
	return decisions
}

// budgetsOf returns the budgets of all views, each once.
func budgetsOf(nodes []Draining) []PodDisruptionBudget {
	type key struct{ namespace, name string }
	known := map[key]bool{}
	var all []PodDisruptionBudget
	for i := range nodes {
		for _, b := range nodes[i].View.Budgets {
			if k := (key{b.Namespace, b.Name}); !known[k] {
				known[k] = true
				all = append(all, b)
			}
		}
	}
	return all
}
