package drain

import (
	"time"

	"github.com/fairlead/fairlead"
)

// Draining is a node that is drained together with others.
type Draining struct {
	Progress Progress          // of its drain
	View     *View             // of the node; neither it nor its Node is nil
	Labels   map[string]string // of the node's machine
	Subject  string            // of the Blocks; empty means the node
}

// Together decides about nodes that are drained at the same time: as [Pods] does for
// each, except that they share the budgets, so that no eviction is requested that
// another node's eviction rules out. Requested evictions that are not seen yet come
// first, on any node; then the nodes in their order. If several views have a budget,
// the first one counts. The decisions are in the order of nodes.
func Together(nodes []Draining, now time.Time, policy *Policy) []NodeDecision {
	if policy == nil {
		policy = &zeroPolicy
	}
	parts := make([]drainer, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		parts[i] = begin(fairlead.NewLedger(n.Progress.Pending, n.View.Outcomes, now, policy.backoff()), n, policy)
	}
	decide(parts, nil)
	decisions := make([]NodeDecision, len(nodes))
	for i := range parts {
		decisions[i] = parts[i].decision()
		decisions[i].Progress.Pending, decisions[i].Wake = parts[i].Pending(), parts[i].Wake()
	}
	return decisions
}

// With is Together for an engine that has a Ledger: it has the waits, the attempts and
// the time of the next Step, so that these are empty in the decisions.
func With(l *fairlead.Ledger, nodes []Draining, policy *Policy) []NodeDecision {
	if policy == nil {
		policy = &zeroPolicy
	}
	parts := make([]drainer, len(nodes))
	for i := range nodes {
		parts[i] = begin(*l, &nodes[i], policy)
	}
	decide(parts, l)
	decisions := make([]NodeDecision, len(nodes))
	for i := range parts {
		decisions[i] = parts[i].decision()
	}
	return decisions
}

// decide decides about nodes that share their budgets, and the Ledger if it is not nil.
func decide(parts []drainer, l *fairlead.Ledger) {
	if len(parts) > 1 {
		shared := disruptions{budgets: budgetsOf(parts)}
		shared.used = make([]int, len(shared.budgets))
		for i := range parts {
			parts[i].disruptions = shared // except used, which is the same array
		}
	}
	var space [128]sighting
	all := space[:0]
	for i := range parts {
		d := &parts[i]
		d.from = len(all)
		all = d.survey(all)
		d.to = len(all)
		d.reserve(all[d.from:])
	}
	for i := range parts {
		d := &parts[i]
		if l == nil {
			d.turn(all[d.from:d.to])
			continue
		}
		d.Ledger = *l
		d.turn(all[d.from:d.to])
		*l = d.Ledger
	}
}

// budgetsOf returns the budgets of all views, each once.
func budgetsOf(nodes []drainer) []PodDisruptionBudget {
	type key struct{ namespace, name string }
	known := map[key]bool{}
	var all []PodDisruptionBudget
	for i := range nodes {
		for _, b := range nodes[i].view.Budgets {
			if k := (key{b.Namespace, b.Name}); !known[k] {
				known[k] = true
				all = append(all, b)
			}
		}
	}
	return all
}
