package fairlead

import (
	"errors"
	"fmt"
)

// live checks liveness on the states that were visited.
func (v *visitor[S, W, A]) live() {
	ends := v.ends()
	for at := range v.nodes {
		f := v.nodes[at].flags
		if f&still != 0 && f&(excused|settled) == 0 && !ends[at] {
			v.breaks(errors.New("something is missing, nothing that is sure to happen ends that, and no Block says what would"), int32(at))
			return
		}
	}
	if at := v.silentCircle(); at >= 0 {
		v.breaks(errors.New("something is missing, and the engine can go in circles from there forever, without a Block that says what would end that"), at)
	}
	if v.complete && v.rest == 0 && v.broken == nil {
		v.broken = fmt.Errorf("none of %d states is settled", len(v.nodes))
	}
}

// ends reports for each state whether moves that happen sooner or later lead
// from it to rest. States that were not expanded count as if they did.
func (v *visitor[S, W, A]) ends() []bool {
	back := make([][]int32, len(v.nodes))
	good := make([]bool, len(v.nodes))
	var queue []int32
	for at := range v.nodes {
		if v.nodes[at].flags&settled != 0 || v.arcs[at] == nil && !v.complete {
			good[at] = true
			queue = append(queue, int32(at))
		}
		for _, a := range v.arcs[at] {
			if a.kind != fault {
				back[a.to] = append(back[a.to], int32(at))
			}
		}
	}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, from := range back[at] {
			if !good[from] {
				good[from] = true
				queue = append(queue, from)
			}
		}
	}
	return good
}

// silent reports whether a state may be part of a silent cycle.
func (v *visitor[S, W, A]) silent(at int32) bool { return v.nodes[at].flags&(settled|excused) == 0 }

// moving reports whether the world is about to do something that happens sooner
// or later: no wait there is forever.
func (v *visitor[S, W, A]) moving(at int32) bool {
	for _, a := range v.arcs[at] {
		if a.kind == sure {
			return true
		}
	}
	return false
}

// silentCircle returns the first state, in the order of visits, from which time
// passes on a cycle of silent states, or -1.
func (v *visitor[S, W, A]) silentCircle() int32 {
	group := v.groups()
	for at := range v.nodes {
		for _, a := range v.arcs[at] {
			if a.kind == pass && v.silent(int32(at)) && v.silent(a.to) && group[at] == group[a.to] && !v.moving(int32(at)) {
				return int32(at)
			}
		}
	}
	return -1
}

// groups numbers the strongly connected components of the silent states: Tarjan's
// algorithm, with its own stack instead of recursion.
func (v *visitor[S, W, A]) groups() []int32 {
	n := len(v.nodes)
	index, low, group := make([]int32, n), make([]int32, n), make([]int32, n)
	on := make([]bool, n)
	next, groups := int32(1), int32(0)
	type frame struct{ at, arc int32 }
	var path []frame
	var stack []int32
	for root := range n {
		if index[root] != 0 || !v.silent(int32(root)) {
			continue
		}
		path = append(path, frame{int32(root), 0})
		for len(path) > 0 {
			f := &path[len(path)-1]
			at := f.at
			if f.arc == 0 {
				index[at], low[at] = next, next
				next++
				stack = append(stack, at)
				on[at] = true
			}
			if int(f.arc) < len(v.arcs[at]) {
				to := v.arcs[at][f.arc].to
				f.arc++
				switch {
				case !v.silent(to):
				case index[to] == 0:
					path = append(path, frame{to, 0})
				case on[to]:
					low[at] = min(low[at], index[to])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				below := path[len(path)-1].at
				low[below] = min(low[below], low[at])
			}
			if low[at] == index[at] {
				groups++
				for {
					member := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					on[member] = false
					group[member] = groups
					if member == at {
						break
					}
				}
			}
		}
	}
	return group
}
