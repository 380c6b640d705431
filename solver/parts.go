package solver

import "context"

// A part is one independent piece of a problem: no constraint connects it with
// another part.
type part struct {
	vars []Var   // ascending
	cons []int32 // ascending; the constraints that can matter
}

// parts divides what the requirements can reach into independent pieces, in the
// order of their first constraint. What they cannot reach stays unselected, and
// a constraint that what is reached cannot break connects nothing. If ctx ends,
// the parts are unusable.
func parts(ctx context.Context, x *index) []part {
	reached := reachable(ctx, x)
	if reached == nil {
		return nil
	}
	return cut(ctx, x, reached, func(k *indexed) bool { return matters(x, k, reached) }, nil)
}

// partsOf is like parts, but returns only those that contain one of the
// constraints: most dead ends concern a small part of a large problem.
func partsOf(ctx context.Context, x *index, cons []int32) []part {
	reached := reachable(ctx, x)
	if reached == nil {
		return nil
	}
	return cut(ctx, x, reached, func(k *indexed) bool { return matters(x, k, reached) }, cons)
}

// wholeParts divides the whole problem, regardless of what is required.
func wholeParts(ctx context.Context, x *index) []part {
	poll := poll{ctx: ctx}
	reached := list[bool](&poll, x.size)
	for v := range reached {
		if reached[v] = v > 0; poll.spend(1) {
			return nil
		}
	}
	return cut(ctx, x, reached, func(k *indexed) bool { return k.role != idle }, nil)
}

// cut groups the reached variables into parts that are connected by the active
// constraints. It returns those that contain one of cons or, if that is nil, all.
func cut(ctx context.Context, x *index, reached []bool, isActive func(k *indexed) bool, cons []int32) []part {
	poll := poll{ctx: ctx}
	parent := list[Var](&poll, len(reached))
	for v := range parent {
		if poll.spend(1) {
			return nil
		}
		parent[v] = Var(v)
	}
	find := func(v Var) Var {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	pieces := 0 // how many pieces are left; a single one needs no joining
	for _, in := range reached {
		if poll.spend(1); in {
			pieces++
		}
	}
	active := list[bool](&poll, len(x.cons))
	for i := range x.cons {
		k := &x.cons[i]
		if poll.spend(1 + int(k.end-k.lits)) {
			return nil
		}
		if active[i] = isActive(k); !active[i] || pieces <= 1 {
			continue
		}
		first := find(x.anyReached(k, reached))
		if first == 0 {
			continue
		}
		for _, l := range x.lits[k.lits:k.end] {
			v := l.Var()
			if parent[v] == first || !reached[v] { // the former is the usual case
				continue
			}
			if root := find(v); root != first {
				parent[root] = first
				pieces--
			}
		}
	}
	var wanted []bool // by root; the empty clauses have root 0
	if cons != nil {
		wanted = list[bool](&poll, len(reached))
	}
	if poll.ended {
		return nil
	}
	for _, id := range cons {
		wanted[find(x.anyReached(&x.cons[id], reached))] = true
	}
	return collect(x, reached, active, wanted, find, &poll)
}

// matters reports whether the constraint can be broken by reached variables.
func matters(x *index, k *indexed, reached []bool) bool {
	switch {
	case k.role == idle:
		return false
	case k.role == limit:
		n := int32(0)
		for _, l := range x.candidates(k) {
			if reached[l] {
				n++
			}
		}
		return n > k.n
	case k.head != 0:
		return reached[k.head]
	}
	for _, l := range x.denials(k) {
		if !reached[l.Var()] {
			return false
		}
	}
	return true
}

func collect(x *index, reached, active, wanted []bool, find func(Var) Var, poll *poll) []part {
	number := list[int32](poll, len(reached)) // by root: 1 + its part
	var all []part
	of := func(v Var) *part {
		root := find(v)
		if wanted != nil && !wanted[root] {
			return nil
		}
		if number[root] == 0 {
			all = append(all, part{})
			number[root] = int32(len(all))
		}
		return &all[number[root]-1]
	}
	for i := range x.cons {
		if poll.over() {
			return nil
		}
		if !active[i] {
			continue
		}
		if v := x.anyReached(&x.cons[i], reached); v != 0 {
			if q := of(v); q != nil {
				q.cons = append(q.cons, int32(i))
			}
		} else if wanted == nil || wanted[0] { // an empty clause
			all = append(all, part{cons: []int32{int32(i)}})
		}
	}
	for v := 1; v < len(reached) && !poll.over(); v++ {
		if reached[v] {
			if q := of(Var(v)); q != nil {
				q.vars = append(q.vars, Var(v))
			}
		}
	}
	return all
}

func (x *index) anyReached(k *indexed, reached []bool) Var {
	if k.head != 0 && reached[k.head] {
		return k.head
	}
	for _, l := range x.lits[k.lits:k.end] {
		if reached[l.Var()] {
			return l.Var()
		}
	}
	return 0
}

// reachable returns which variables can come to be selected, or nil if ctx
// ends.
func reachable(ctx context.Context, x *index) (reached []bool) {
	poll := poll{ctx: ctx}
	reached = list[bool](&poll, x.size)
	left := list[int32](&poll, len(x.cons)) // denials reached
	if poll.ended {
		return nil
	}
	found := make([]Var, 0, min(len(reached), pollSteps))
	reach := func(k *indexed) {
		poll.spend(len(x.candidates(k)))
		for _, l := range x.candidates(k) {
			if !reached[l] {
				reached[l] = true
				found = append(found, l.Var())
			}
		}
	}
	for _, id := range x.roots {
		reach(&x.cons[id])
	}
	for at := 0; at < len(found) && !poll.spend(4+len(x.demands.of(found[at]))); at++ {
		for _, id := range x.demands.of(found[at]) {
			k := &x.cons[id]
			if left[id]++; left[id] == k.n {
				reach(k)
			}
		}
	}
	if poll.ended {
		return nil
	}
	return reached
}

// constraintsOf returns the constraints of all parts, ascending. If ctx ends,
// they are unusable.
func constraintsOf(ctx context.Context, x *index, parts []part) []int32 {
	poll := poll{ctx: ctx}
	in := list[bool](&poll, len(x.cons))
	n := 0
	for _, q := range parts {
		n += len(q.cons)
		for _, id := range q.cons {
			if poll.spend(1) {
				return nil
			}
			in[id] = true
		}
	}
	all := make([]int32, 0, n)
	for id := range in {
		if poll.spend(1) {
			return nil
		}
		if in[id] {
			all = append(all, int32(id))
		}
	}
	return all
}

// numbered returns, by variable, 1 + its part, or 0. If ctx ends, the list is
// unusable.
func numbered(ctx context.Context, x *index, parts []part) []int32 {
	poll := poll{ctx: ctx}
	of := list[int32](&poll, x.size)
	for i := range parts {
		for _, v := range parts[i].vars {
			if poll.spend(1) {
				return of
			}
			of[v] = int32(i + 1)
		}
	}
	return of
}
