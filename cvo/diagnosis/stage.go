package diagnosis

import (
	"fmt"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/rollout"
	"github.com/fairlead/fairlead/internal/words"
)

// stages says how far the operators and the pools are.
func (b *builder) stages() []Stage {
	all := []Stage{b.operatorStage()}
	for i := range b.report.Pools {
		all = append(all, b.poolStage(&b.report.Pools[i]))
	}
	if b.version == nil && b.operators == nil {
		all = all[1:]
	}
	if len(b.report.Pools) == 0 {
		all = append(all, b.nodeStage())
	}
	return all
}

func (b *builder) operatorStage() Stage {
	s := Stage{Name: "Operators", Done: -1, Total: -1}
	c := &b.report.Completion
	if !c.Known {
		return s
	}
	s.Done, s.Total = c.Updated, len(b.report.Operators)+c.Absent
	var behind []string
	for i := range b.report.Operators {
		if o := &b.report.Operators[i]; o.State != "updated" {
			text := o.Name
			if to := b.first(ID("ClusterOperator", "", o.Name)); to != "" {
				text += " waits for " + to
			}
			behind = append(behind, text)
		}
	}
	if len(behind) > 0 {
		s.Says = append(s.Says, words.First(behind, 3))
	}
	for _, n := range []struct {
		n    int
		what string
	}{{c.Unavailable, "not available"}, {c.Degraded, "degraded"}, {c.Absent, "not in the dump"}} {
		if n.n > 0 {
			s.Says = append(s.Says, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	return s
}

// first names the first thing that something waits for.
func (b *builder) first(id string) string {
	for _, e := range b.g.From(id) {
		if n := b.g.Node(e.To); n != nil {
			return n.title()
		}
	}
	return ""
}

// poolStage says how far a pool is. What is known of its nodes is counted apart: readiness,
// cordon, update.
func (b *builder) poolStage(r *cvo.PoolReport) Stage {
	s := Stage{Name: r.Name, Done: r.Updated, Total: r.Total, State: r.State}
	if r.Total < 0 {
		s.Done = -1
		return s
	}
	down, closed, cordoned := 0, 0, 0
	var maximum int
	for i := range b.report.Nodes {
		if b.report.Nodes[i].Pool != r.Name {
			continue
		}
		n := b.node(b.report.Nodes[i].Name)
		switch {
		case n == nil:
		case b.down[n.Name] && b.reports(n.Name):
			closed++
		case b.down[n.Name]:
			down++
		case n.Spec.Unschedulable && !rollout.Away(n):
			cordoned++
		}
	}
	for i := range b.pools {
		if b.pools[i].Name == r.Name {
			maximum, _ = rollout.MaxUnavailable(&b.pools[i], r.Total)
		}
	}
	for _, n := range []struct {
		n    int
		what string
	}{{down, "down"}, {closed, "taking no pods"}, {r.Draining, "draining"}, {r.Degraded, "degraded"}, {cordoned, "cordoned"}, {r.Unknown, "of an unknown release"}} {
		if n.n > 0 {
			s.Says = append(s.Says, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	if r.State == "paused" {
		s.Says = append(s.Says, "paused")
	}
	if away := down + closed + r.Draining + cordoned; away > 0 && maximum > 0 && r.Updated < r.Total {
		s.Says = append(s.Says, fmt.Sprintf("%d of %d may be down", maximum, r.Total))
	}
	return s
}

// nodeStage says how the nodes are, of a cluster without pools.
func (b *builder) nodeStage() Stage {
	s := Stage{Name: "Nodes", Done: -1, Total: -1}
	if b.nodes == nil {
		return s
	}
	s.Done, s.Total = 0, len(b.nodes)
	closed, cordoned, mute := 0, 0, len(b.mute())
	for i := range b.nodes {
		n := &b.nodes[i]
		switch {
		case n.Condition("Ready") == nil:
		case !b.down[n.Name]:
			s.Done++
		case b.reports(n.Name):
			s.Done++
			closed++
		}
		if n.Spec.Unschedulable {
			cordoned++
		}
	}
	if down := s.Total - s.Done - mute; down > 0 {
		s.Says = append(s.Says, fmt.Sprintf("%d down", down))
	}
	if mute > 0 {
		s.Says = append(s.Says, fmt.Sprintf("%d unknown", mute))
	}
	if closed > 0 {
		s.Says = append(s.Says, fmt.Sprintf("%d taking no pods", closed))
	}
	if cordoned > 0 {
		s.Says = append(s.Says, fmt.Sprintf("%d cordoned", cordoned))
	}
	return s
}

// mute returns the nodes that do not say whether they are ready, as in a dump without statuses.
func (b *builder) mute() (names []string) {
	for i := range b.nodes {
		if n := &b.nodes[i]; n.Condition("Ready") == nil {
			names = append(names, n.Name)
		}
	}
	return names
}

// gaps lists what is not known.
func (b *builder) gaps() []cvo.Gap {
	gaps := []cvo.Gap{}
	if b.openshift() {
		gaps = append(gaps, b.report.Gaps...)
	} else if b.nodes == nil {
		gaps = append(gaps, cvo.Gap{What: "the nodes", How: "kubectl get nodes -o yaml"})
	}
	if mute := b.mute(); len(mute) > 0 {
		gaps = append(gaps, cvo.Gap{What: "whether " + words.Plural(len(mute), "node ", "nodes ") + words.First(mute, 3) + " " + words.Plural(len(mute), "is", "are") + " ready", How: "kubectl get nodes -o yaml"})
	}
	cli := "kubectl"
	if b.openshift() {
		cli = "oc"
	}
	if b.pods == nil {
		gaps = append(gaps, cvo.Gap{What: "the pods, and so what drains wait for", How: cli + " get pods -A -o yaml"})
	}
	if b.budgets == nil {
		gaps = append(gaps, cvo.Gap{What: "the disruption budgets", How: cli + " get poddisruptionbudgets -A -o yaml"})
	}
	if !b.openshift() {
		gaps = append(gaps, b.partly...)
	}
	return append(append(gaps, b.unseen...), b.olmGaps...)
}
