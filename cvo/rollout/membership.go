package rollout

import (
	"fmt"
	"slices"
	"strings"
)

// PoolMaster and PoolWorker are the pools that every cluster has.
const (
	PoolMaster = "master"
	PoolWorker = "worker"
)

// MembershipError says that a node is in several custom pools.
type MembershipError struct {
	Node  string   // the node's name
	Pools []string // the pools', sorted
}

// Error names the node and its pools.
func (e *MembershipError) Error() string {
	return fmt.Sprintf("node %s belongs to pools %s: a node can be in only one pool besides master and worker; change its labels or their selectors", e.Node, strings.Join(e.Pools, ", "))
}

// PrimaryPool returns the pool whose configuration a node should run, or nil if it is
// in none: master before all others, then the arbiters', then a custom pool, then
// worker. Nodes that run Windows are in none, and a pool without a selector has no
// nodes. The error is a [*MembershipError].
func PrimaryPool(pools []Pool, n *Node) (*Pool, error) {
	if n.Labels["kubernetes.io/os"] == "windows" {
		return nil, nil
	}
	var master, arbiter, worker *Pool
	var own []*Pool
	for i := range pools {
		p := &pools[i]
		if p.Spec.NodeSelector == nil || p.Spec.NodeSelector.Empty() || !p.Spec.NodeSelector.Matches(n.Labels) {
			continue
		}
		switch p.Name {
		case PoolMaster:
			master = p
		case PoolArbiter:
			arbiter = p
		case PoolWorker:
			worker = p
		default:
			own = append(own, p)
		}
	}
	switch {
	case len(own) > 1:
		e := &MembershipError{Node: n.Name}
		for _, p := range own {
			e.Pools = append(e.Pools, p.Name)
		}
		slices.Sort(e.Pools)
		return nil, e
	case master != nil:
		return master, nil
	case arbiter != nil:
		return arbiter, nil
	case len(own) == 1:
		return own[0], nil
	}
	return worker, nil
}
