package solver

import (
	"context"
	"slices"
)

// occurrences finds, for a variable, the constraints of more than one literal that its
// selection touches: the clauses that deny it and the limitations that list it,
// in the order of adding.
type occurrences struct {
	start   []int32 // by variable: where its constraints begin in ids
	ids     []int32
	denials []int32 // by constraint: how many literals of a clause deny
}

// newOccurrences indexes p. When ctx ends, the index is of no use.
func newOccurrences(ctx context.Context, p *Problem) *occurrences {
	poll := poll{ctx: ctx}
	x := &occurrences{start: make([]int32, p.vars+2), denials: make([]int32, len(p.cons))}
	total := 0
	for i := range p.cons {
		if poll.over() {
			return x
		}
		c := &p.cons[i]
		for _, l := range p.litsOf(c) {
			if touches(c, l) {
				x.start[l.Var()+1]++
				total++
			}
		}
	}
	for v := 1; v < len(x.start); v++ {
		x.start[v] += x.start[v-1]
	}
	x.ids = make([]int32, total)
	for i := len(p.cons) - 1; i >= 0; i-- { // backwards: start moves from the end of each list to its beginning
		if poll.over() {
			return x
		}
		c := &p.cons[i]
		x.denials[i] = c.denials(p)
		for _, l := range p.litsOf(c) {
			if touches(c, l) {
				at := &x.start[l.Var()+1]
				*at--
				x.ids[*at] = int32(i)
			}
		}
	}
	copy(x.start, x.start[1:])
	x.start[len(x.start)-1] = int32(total)
	return x
}

// denials counts the literals of a clause that deny.
func (c *con) denials(p *Problem) int32 {
	n := int32(0)
	if c.kind != Limitation {
		for _, l := range p.litsOf(c) {
			if !l.Selects() {
				n++
			}
		}
	}
	return n
}

func touches(c *con, l Lit) bool {
	return c.kind == Limitation || !l.Selects() && c.end-c.start > 1
}

// of returns the constraints that selecting v touches. A clause that denies v
// twice is listed twice.
func (x *occurrences) of(v Var) []int32 { return x.ids[x.start[v]:x.start[v+1]] }

// extended returns the index of q, which is the indexed problem with constraints
// of one literal added and others dropped.
func (x *occurrences) extended(q *Problem) *occurrences {
	denials := slices.Grow(slices.Clone(x.denials), len(q.cons)-len(x.denials))
	for i := range q.cons[len(x.denials):] {
		denials = append(denials, q.cons[len(x.denials)+i].denials(q))
	}
	for i := range x.denials {
		if q.cons[i].kind == Limitation {
			denials[i] = 0
		}
	}
	return &occurrences{start: x.start, ids: x.ids, denials: denials}
}
