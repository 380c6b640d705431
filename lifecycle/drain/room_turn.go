package drain

import (
	"slices"
	"time"
)

// FindRoomInTurn finds whether the nodes of req.Drain can be out of service in
// turn: the first req.AtOnce of them, and when they are back the next, and so on.
// It returns nil if each batch can go, else the answer of [FindRoom] about the
// first one that cannot. It costs about as much as one FindRoom for all of the
// nodes, because the cluster is built once. The request must have all nodes and
// pods of the cluster. The error is that of [NewPlan].
func FindRoomInTurn(req *PlanRequest, now time.Time, policy *Policy) (*Room, error) {
	if policy == nil {
		policy = &zeroPolicy
	}
	order, err := req.check(policy)
	if err != nil {
		return nil, err
	}
	f := newFinder(req, now, policy, order)
	for batch := range slices.Chunk(f.order, max(req.AtOnce, 1)) {
		if f.together(batch) {
			continue
		}
		one := *req
		one.Drain = make([]string, len(batch))
		for i, n := range batch {
			one.Drain[i] = n.Name
		}
		room, err := FindRoom(&one, now, policy) // which tries other ways to place the pods
		if err != nil || len(room.Kept) > 0 {
			return room, err
		}
	}
	return nil, nil
}

// together reports whether all pods of a batch of nodes fit elsewhere, each on
// the first node that fits it, and leaves the cluster as it was.
func (f *finder) together(batch []*Node) bool {
	left := f.vacate(batch)
	var placed []*Pod
	fits := !slices.ContainsFunc(left, func(p *Pod) bool {
		if !replaced(p) {
			return false
		}
		to, ok := f.cluster.First(p, func(o *Node) bool { return !f.gone[o.Name] })
		if ok {
			placed = append(placed, f.put(p, to.Name))
		}
		return !ok
	})
	for _, p := range placed {
		f.cluster.Remove(p)
	}
	f.restore(batch, left)
	return fits
}

// vacate cordons nodes in the cluster and removes the pods that a drain removes,
// which it returns in the order of the nodes.
func (f *finder) vacate(batch []*Node) (left []*Pod) {
	for _, n := range batch {
		f.close(n)
		judge := f.judge(n)
		for _, p := range f.pods[n.Name] {
			if leaves(&judge, p) {
				f.cluster.Remove(p)
				left = append(left, p)
			}
		}
	}
	return left
}

// restore undoes vacate.
func (f *finder) restore(batch []*Node, left []*Pod) {
	for _, p := range left {
		_ = f.cluster.Add(p) // what cannot be read was noted
	}
	for _, n := range batch {
		f.open(n)
	}
}
