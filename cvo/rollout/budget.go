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

// MaxUnavailable returns how many of a pool's nodes, of which there are size,
// may be down at a time: what its spec says, a percentage rounded down, but at
// least one, and in a control plane no more than its quorum allows: the smaller
// half of the nodes. The error is a [*BudgetError].
func MaxUnavailable(p *Pool, size int) (int, error) {
	n, err := asked(p, size)
	if err == nil && p.Name == PoolMaster {
		n = min(n, max((size-1)/2, 1))
	}
	return n, err
}

// asked is what the spec of a pool says of how many may be down.
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
		return 0, &BudgetError{p.Name, v.Text, "no number stands before the percent sign"}
	case err != nil:
		return 0, &BudgetError{p.Name, v.String(), err.Error()}
	}
	return max(n, 1), nil
}

// Choice is which nodes of a pool may be begun.
type Choice struct {
	MaxUnavailable int      `json:"maxUnavailable"`       // how many may be down
	Unavailable    []string `json:"unavailable"`          // those that are down or on their way, by name
	Failing        []string `json:"failing,omitempty"`    // those that could not be updated to what the pool is to run, by name
	Capacity       int      `json:"capacity"`             // how many may be begun now
	Candidates     []string `json:"candidates,omitempty"` // those that may, in order, Capacity at the most
	Waiting        []string `json:"waiting,omitempty"`    // those that could be begun if there was room, in order
	Held           []string `json:"held,omitempty"`       // those that need the update and take no pods, by name
	Peers          []string `json:"peers,omitempty"`      // the peers that are waited for, by name, see World.Peers
}

// Choose says which nodes of a pool may start now. Nodes in begun count as
// under way, whatever they report.
//
//  1. There is room for MaxUnavailable nodes, less those that are unavailable
//     for any reason, also one that has nothing to do with the update.
//  2. Nodes that failed to update to the pool's configuration count, too: a
//     configuration that breaks nodes breaks no more than that.
//  3. Nodes that run anything else, and take pods, may start: first the zones
//     in the order of their names, within a zone the oldest node, nodes without
//     a zone behind them all, and World.Last at the very end. So may nodes
//     without a desired configuration.
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
