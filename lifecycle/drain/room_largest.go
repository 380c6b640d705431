package drain

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/fairlead/fairlead/taints/placement"
)

// Bounds of the search for a larger set.
const (
	maxExact      = 12     // nodes that are drained
	maxPlacements = 20_000 // placements of pods
)

// bound finds how many nodes can go together at most. The nodes that stay must have
// as much of each resource as is requested by pods that are moved and by those on
// nodes that stay. Requests that exceed their node's capacity do not count, nor
// pods that are lost with their node.
func (f *finder) bound() {
	goes := make(map[string]bool, len(f.order))
	for _, n := range f.order {
		goes[n.Name] = true
	}
	total, asked := map[string]int64{}, map[string]int64{}
	sizes := make([]map[string]int64, 0, len(f.order))
	for i := range f.req.Nodes {
		n := &f.req.Nodes[i]
		has := placement.Allocatable(n)
		var judge filter
		if goes[n.Name] {
			judge = f.judge(n)
			sizes = append(sizes, has)
		}
		here := map[string]int64{}
		for j := range f.pods[n.Name] {
			p := f.pods[n.Name][j]
			if p.Spec.NodeName != n.Name || p.Finished() || goes[n.Name] && !(leaves(&judge, p) && replaced(p)) {
				continue
			}
			for name, amount := range f.cluster.Asks(p) {
				here[name] += amount
			}
		}
		for name, amount := range has {
			total[name] += amount
			asked[name] += min(amount, here[name])
		}
	}
	f.room.AtMost = len(f.order)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		var each []int64
		for _, has := range sizes {
			each = append(each, has[name])
		}
		slices.Sort(each)
		left, n := total[name], 0
		for _, amount := range each {
			if left -= amount; left < asked[name] {
				break
			}
			n++
		}
		f.room.AtMost = min(f.room.AtMost, n)
	}
}

// larger looks for a larger set than was found, if few nodes are drained, and
// returns the finder that found one. It notes whether there certainly is none.
func (f *finder) larger() *finder {
	n := len(f.order)
	if n > maxExact {
		return nil
	}
	budget := maxPlacements
	var g *finder
	for size := f.room.AtMost; size > len(f.room.Together); size-- {
		for set := range uint(1) << n {
			if bits.OnesCount(set) != size {
				continue
			}
			if g == nil {
				g = newFinder(f.req, f.now, f.policy, f.positions())
				g.room.AtMost = f.room.AtMost
			}
			if g.exactly(set, &budget) {
				for i, n := range g.order {
					if set&(1<<i) == 0 {
						g.try(n)
					}
				}
				g.room.Largest = budget > 0
				return g
			}
			if budget <= 0 {
				return nil
			}
		}
	}
	f.room.Largest = true
	return nil
}

// positions returns the indexes of the nodes to be drained in the request.
func (f *finder) positions() []int {
	at := make(map[string]int, len(f.req.Nodes))
	for i := range f.req.Nodes {
		at[f.req.Nodes[i].Name] = i
	}
	var all []int
	for _, n := range f.order {
		all = append(all, at[n.Name])
	}
	return all
}

// exactly takes a set of nodes, by their positions in the order, out of service at
// once, if there is a way to place their pods within the budget.
func (f *finder) exactly(set uint, budget *int) bool {
	var batch []*Node
	f.room.Together = nil
	for i, n := range f.order {
		if set&(1<<i) != 0 {
			batch = append(batch, n)
			f.room.Together = append(f.room.Together, n.Name)
		}
	}
	left := f.vacate(batch)
	move := slices.DeleteFunc(slices.Clone(left), func(p *Pod) bool { return !replaced(p) })
	slices.SortFunc(move, comparePods)
	f.room.Moved = len(move)
	if f.place(move, budget) {
		return true
	}
	f.restore(batch, left)
	return false
}

// place tries every way to put pods on nodes that stay, until one fits all.
func (f *finder) place(pods []*Pod, budget *int) bool {
	if len(pods) == 0 {
		return true
	}
	p := pods[0]
	for i := range f.req.Nodes {
		name := f.req.Nodes[i].Name
		if f.gone[name] || !f.cluster.Fits(p, name) {
			continue
		}
		if *budget--; *budget < 0 {
			return false
		}
		c := f.put(p, name)
		if f.place(pods[1:], budget) {
			f.pods[name] = append(f.pods[name], c)
			return true
		}
		f.cluster.Remove(c)
	}
	return false
}
