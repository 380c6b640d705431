package explore

// live checks liveness on the states that were visited.
func (x *search[W, S, A]) live() {
	ends := x.ends()
	for at := range x.nodes {
		f := x.nodes[at].flags
		if f&still != 0 && f&(told|atRest) == 0 && !ends[at] {
			x.r.Violation = x.violation("something is owed, nothing that is sure to happen ends that, and no block says what would", int32(at))
			return
		}
	}
	if at := x.silentCircle(); at >= 0 {
		v := x.violation("something is owed, and the engine can go in circles forever without a block that says what would end that", at)
		loop := x.circle(at)
		_, moves := x.way(at)
		v.Trace, v.Loop = x.names(v.World, append(moves, loop...)), len(loop)
		x.r.Violation = v
	}
}

// ends reports for each state whether moves that happen sooner or later lead
// from it to rest. States that were not expanded count as if they did.
func (x *search[W, S, A]) ends() []bool {
	back := make([][]int32, len(x.nodes))
	good := make([]bool, len(x.nodes))
	var queue []int32
	for at := range x.nodes {
		if x.nodes[at].flags&atRest != 0 || x.arcs[at] == nil && !x.r.Complete {
			good[at] = true
			queue = append(queue, int32(at))
		}
		for _, a := range x.arcs[at] {
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
func (x *search[W, S, A]) silent(at int32) bool { return x.nodes[at].flags&(atRest|told) == 0 }

// moving reports whether the world is about to do something that happens sooner
// or later: no wait there is forever.
func (x *search[W, S, A]) moving(at int32) bool {
	for _, a := range x.arcs[at] {
		if a.kind == sure {
			return true
		}
	}
	return false
}

// silentCircle returns the first state, in the order of visits, from which time
// passes on a cycle of silent states, or -1.
func (x *search[W, S, A]) silentCircle() int32 {
	group := x.groups()
	for at := range x.nodes {
		for _, a := range x.arcs[at] {
			if a.kind == pass && x.silent(int32(at)) && x.silent(a.to) && group[at] == group[a.to] && !x.moving(int32(at)) {
				return int32(at)
			}
		}
	}
	return -1
}

// groups numbers the strongly connected components of the silent states: Tarjan's
// algorithm, with its own stack instead of recursion.
func (x *search[W, S, A]) groups() []int32 {
	n := len(x.nodes)
	index, low, group := make([]int32, n), make([]int32, n), make([]int32, n)
	on := make([]bool, n)
	next, groups := int32(1), int32(0)
	type frame struct{ at, arc int32 }
	var path []frame
	var stack []int32
	for root := range n {
		if index[root] != 0 || !x.silent(int32(root)) {
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
			if int(f.arc) < len(x.arcs[at]) {
				to := x.arcs[at][f.arc].to
				f.arc++
				switch {
				case !x.silent(to):
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

// circle returns the moves of a shortest cycle of silent states that begins with
// time passing.
func (x *search[W, S, A]) circle(from int32) []uint8 {
	group := x.groups()
	type step struct {
		at   int32
		back int
		move uint8
	}
	var all []step
	seen := map[int32]bool{}
	for i, a := range x.arcs[from] {
		if a.kind == pass && group[a.to] == group[from] && x.silent(a.to) {
			all = append(all, step{a.to, -1, uint8(i)})
			seen[a.to] = true
		}
	}
	for k := 0; k < len(all); k++ {
		if all[k].at == from {
			var moves []uint8
			for j := k; j >= 0; j = all[j].back {
				moves = append([]uint8{all[j].move}, moves...)
			}
			return moves
		}
		for i, a := range x.arcs[all[k].at] {
			if !seen[a.to] && x.silent(a.to) && group[a.to] == group[from] {
				seen[a.to] = true
				all = append(all, step{a.to, k, uint8(i)})
			}
		}
	}
	return nil
}
