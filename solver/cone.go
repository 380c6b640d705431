package solver

import (
	"context"
	"slices"
)

// A part is one independent piece of a problem: no constraint joins it with
// another part.
type part struct {
	vars []Var   // ascending
	cons []int32 // ascending; the constraints that can matter
}

// parts cuts what the requirements can reach into independent pieces, in the
// order of their first constraint. What they cannot reach stays unselected, and
// a constraint that cannot be broken by what is reached joins nothing. When ctx
// ends, the parts are of no use.
func parts(ctx context.Context, p *Problem, x *occurrences) []part {
	reached, left := cone(ctx, p, x)
	return cut(ctx, p, reached, func(i int) bool {
		c := &p.cons[i]
		return matters(c, p.litsOf(c), left[i], reached)
	})
}

// wholeParts cuts all of the problem, whatever is required or forbidden.
func wholeParts(ctx context.Context, p *Problem) []part {
	reached := make([]bool, p.vars+1)
	for v := range reached {
		reached[v] = v > 0
	}
	return cut(ctx, p, reached, func(i int) bool {
		c := &p.cons[i]
		return c.kind != Requirement && c.kind != Prohibition && matters(c, p.litsOf(c), 0, reached)
	})
}

// cut joins the reached variables by the active constraints.
func cut(ctx context.Context, p *Problem, reached []bool, isActive func(i int) bool) []part {
	parent := make([]Var, p.vars+1)
	for v := range parent {
		parent[v] = Var(v)
	}
	find := func(v Var) Var {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	active := make([]bool, len(p.cons))
	poll := poll{ctx: ctx}
	for i := range p.cons {
		if poll.over() {
			return nil
		}
		lits := p.litsOf(&p.cons[i])
		if active[i] = isActive(i); !active[i] {
			continue
		}
		first := Var(0)
		for _, l := range lits {
			if v := l.Var(); !reached[v] {
				continue
			} else if first == 0 {
				first = find(v)
			} else {
				parent[find(v)] = first
			}
		}
	}
	return collect(p, reached, active, find)
}

// matters reports whether the constraint can be broken by reached variables.
func matters(c *con, lits []Lit, left int32, reached []bool) bool {
	if c.kind != Limitation {
		return left == 0 || len(lits) == 1 && reached[lits[0].Var()]
	}
	n := int32(0)
	for _, l := range lits {
		if reached[l.Var()] {
			n++
		}
	}
	return n > c.n
}

func collect(p *Problem, reached, active []bool, find func(Var) Var) []part {
	number := make([]int32, p.vars+1) // by root: 1 + its part
	var all []part
	of := func(v Var) *part {
		root := find(v)
		if number[root] == 0 {
			all = append(all, part{})
			number[root] = int32(len(all))
		}
		return &all[number[root]-1]
	}
	for i := range p.cons {
		if !active[i] {
			continue
		}
		if c := anyReached(p.litsOf(&p.cons[i]), reached); c != 0 {
			q := of(c)
			q.cons = append(q.cons, int32(i))
		} else { // an empty clause
			all = append(all, part{cons: []int32{int32(i)}})
		}
	}
	for v := 1; v < len(reached); v++ {
		if reached[v] {
			q := of(Var(v))
			q.vars = append(q.vars, Var(v))
		}
	}
	return all
}

func anyReached(lits []Lit, reached []bool) Var {
	for _, l := range lits {
		if reached[l.Var()] {
			return l.Var()
		}
	}
	return 0
}

// cone finds the variables that can come to be selected, and for every clause
// how many of its denials are of other variables.
func cone(ctx context.Context, p *Problem, x *occurrences) (reached []bool, left []int32) {
	reached = make([]bool, p.vars+1)
	left = slices.Clone(x.denials)
	var found []Var
	reach := func(c *con) {
		for _, l := range p.litsOf(c) {
			if l.Selects() && !reached[l] {
				reached[l] = true
				found = append(found, l.Var())
			}
		}
	}
	for i := range p.cons {
		if c := &p.cons[i]; c.kind != Limitation && left[i] == 0 {
			reach(c)
		}
	}
	poll := poll{ctx: ctx}
	for at := 0; at < len(found) && !poll.over(); at++ {
		for _, id := range x.of(found[at]) {
			c := &p.cons[id]
			if c.kind == Limitation {
				continue
			}
			if left[id]--; left[id] == 0 {
				reach(c)
			}
		}
	}
	return reached, left
}
