package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// BudgetError says that spec.maxUnavailable of a pool is invalid.
type BudgetError struct {
	Pool   string // the pool's name
	Value  string // the current value
	Reason string // what is wrong with it
}

// Error says what is wrong, and what to write.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("pool %s: spec.maxUnavailable %q: %s; write a number or a percentage such as \"30%%\"", e.Pool, e.Value, e.Reason)
}

// MaxUnavailable returns how many of a pool's size nodes may be down at a time:
// the value of its spec, a percentage rounded down, but at least one, and in a
// control plane no more than its quorum allows: the smaller half of the nodes.
// The error is a [*BudgetError].
func MaxUnavailable(p *Pool, size int) (int, error) {
	n, err := asked(p, size)
	if err == nil && p.Name == PoolMaster {
		n = min(n, max((size-1)/2, 1))
	}
	return n, err
}

// asked is the maxUnavailable that the spec of a pool requests.
func asked(p *Pool, size int) (int, error) {
	v := p.Spec.MaxUnavailable
	if v == nil || p.Name == PoolArbiter {
		return 1, nil
	}
	if v.Text != "" && !v.Percentage() {
		return 0, &BudgetError{p.Name, v.Text, "it is neither a number nor a percentage"}
	}
	n, err := v.Scale(size, false)
	switch {
	case err != nil && v.Percentage():
		return 0, &BudgetError{p.Name, v.Text, "there is no number before the percent sign"}
	case err != nil:
		return 0, &BudgetError{p.Name, v.String(), err.Error()}
	}
	return max(n, 1), nil
}

// Choice says which nodes of a pool may start.
type Choice struct {
	MaxUnavailable int      `json:"maxUnavailable"`       // how many may be down
	Unavailable    []string `json:"unavailable"`          // those that are down or being updated, by name
	Failing        []string `json:"failing,omitempty"`    // those that could not be updated to the pool's configuration, by name
	Capacity       int      `json:"capacity"`             // how many may start now
	Candidates     []string `json:"candidates,omitempty"` // those that may start, in order, at most Capacity
	Waiting        []string `json:"waiting,omitempty"`    // those that could start if there was room, in order
	Held           []string `json:"held,omitempty"`       // those that need the update and are not ready, by name
	Peers          []string `json:"peers,omitempty"`      // the peers that the pool waits for, by name, see World.Peers
}

// Choose says which nodes of a pool may start now. Nodes in begun count as being
// updated, whatever they report.
//
//  1. There is room for MaxUnavailable nodes, minus those that are unavailable
//     for any reason, even one unrelated to the update.
//  2. Nodes that failed to update to the pool's configuration also count: a
//     configuration that breaks nodes breaks no more than that.
//  3. Nodes that run anything else, and are ready, may start: first by zone, in
//     the order of names, within a zone the oldest node, then nodes without a
//     zone, and World.Last at the very end. So may nodes without a desired
//     configuration.
//
// A pool that is paused, or waits for its image or for its peers (see World), has
// no candidates. The error is a [*BudgetError].
func Choose(w *World, begun []string) (*Choice, error) {
	c := new(Choice)
	var err error
	if c.MaxUnavailable, err = MaxUnavailable(&w.Pool, len(w.Nodes)); err != nil {
		return nil, err
	}
	var open []*Node
	for i := range w.Nodes {
		n := &w.Nodes[i]
		switch reserved := slices.Contains(begun, n.Name); {
		case takesRoom(n) || reserved:
			c.Unavailable = append(c.Unavailable, n.Name)
			if !targets(&w.Pool, n) && !reserved && !Ready(n) {
				c.Held = append(c.Held, n.Name)
			}
		case targets(&w.Pool, n) && Failing(n):
			c.Failing = append(c.Failing, n.Name)
		case !targets(&w.Pool, n):
			open = append(open, n)
		}
	}
	slices.Sort(c.Unavailable)
	slices.Sort(c.Failing)
	slices.Sort(c.Held)
	slices.SortFunc(open, func(a, b *Node) int {
		return cmp.Or(order(a.Name == w.Last, b.Name == w.Last), byZone(a, b))
	})
	c.Capacity = max(c.MaxUnavailable-len(c.Unavailable)-len(c.Failing), 0)
	c.Peers = w.peersUnready()
	if w.Pool.Spec.Paused || w.Build.awaited(&w.Pool) || len(c.Peers) > 0 {
		c.Capacity = 0
	}
	for i, n := range open {
		if i < c.Capacity {
			c.Candidates = append(c.Candidates, n.Name)
		} else {
			c.Waiting = append(c.Waiting, n.Name)
		}
	}
	return c, nil
}

// order puts false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// byZone orders nodes by zone, age and name.
func byZone(a, b *Node) int {
	za, zb := a.Labels[LabelZone], b.Labels[LabelZone]
	return cmp.Or(order(za == "", zb == ""), strings.Compare(za, zb),
		a.CreationTimestamp.Compare(b.CreationTimestamp), strings.Compare(a.Name, b.Name))
}
