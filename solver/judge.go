package solver

import (
	"context"
	"fmt"
	"slices"
)

// This file judges every answer. It reads the constraints as they were given,
// one by one, and shares no code with the search.

// A judge records which constraints a selection touches.
//
// Only those must be checked: a clause with a denial holds as long as none of
// the variables that it denies is selected, and a limitation holds as long as
// none of its variables is. So a selection can only break the clauses that deny
// one of its variables, the limitations that list one, and the clauses that
// deny nothing, which are always checked.
type judge struct {
	cons    int // how many constraints there are
	always  []int32
	start   []int32 // by variable: where the constraints that its selection touches begin
	touched []int32
	idle    spare[bitset]
}

// A bitset is a set of variables.
type bitset []uint64

func newBitset(vars int) *bitset {
	s := make(bitset, vars/64+1)
	return &s
}

func (s bitset) has(v Var) bool { return s[v/64]>>(v%64)&1 != 0 }
func (s bitset) put(v Var)      { s[v/64] |= 1 << (v % 64) }
func (s bitset) drop(v Var)     { s[v/64] &^= 1 << (v % 64) }

// judge returns the judge of p. It returns nil for the first answer, because
// for a single one building a judge is not worth it, and if ctx ended.
func (p *Problem) judge(ctx context.Context) *judge {
	if j := p.judged.Load(); j != nil && len(j.start) == p.vars+2 && j.cons == len(p.cons) {
		return j
	}
	if p.answers.Add(1) == 1 {
		return nil
	}
	j := newJudge(ctx, p)
	if j != nil {
		p.judged.Store(j)
	}
	return j
}

// newJudge returns nil if ctx ended.
func newJudge(ctx context.Context, p *Problem) *judge {
	poll := poll{ctx: ctx}
	j := &judge{cons: len(p.cons), start: list[int32](&poll, p.vars+2)}
	if poll.ended {
		return nil
	}
	for id := range p.cons {
		if poll.spend(4 + 2*int(p.cons[id].end-p.cons[id].start)) {
			return nil
		}
		deniesNothing := true
		eachTouch(p, id, func(v Var) {
			deniesNothing = false
			j.start[v+1]++
		})
		if deniesNothing && p.cons[id].kind != Limitation {
			j.always = append(j.always, int32(id))
		}
	}
	for v := range j.start[1:] {
		if poll.spend(1) {
			return nil
		}
		j.start[v+1] += j.start[v]
	}
	j.touched = list[int32](&poll, int(j.start[p.vars+1]))
	next := cloned(&poll, j.start, 0)
	for id := range p.cons {
		if poll.ended || poll.spend(4+2*int(p.cons[id].end-p.cons[id].start)) {
			return nil
		}
		eachTouch(p, id, func(v Var) {
			j.touched[next[v]] = int32(id)
			next[v]++
		})
	}
	return j
}

// eachTouch calls visit for the variables whose selection touches the
// constraint.
func eachTouch(p *Problem, id int, visit func(Var)) {
	c := &p.cons[id]
	if c.subject != 0 {
		visit(c.subject)
		return // the rest are candidates
	}
	for _, l := range p.lits[c.start:c.end] {
		if !l.Selects() || c.kind == Limitation {
			visit(l.Var())
		}
	}
}

// examine looks for a constraint of the changed problem that the picks break,
// and returns a description of it, or "". Without a judge it checks all
// constraints. If ctx ends, it returns early.
func examine(ctx context.Context, p *Problem, j *judge, w *change, picks []decision) (bad string) {
	var selected *bitset
	if j != nil {
		selected = j.idle.take()
	}
	if selected == nil {
		selected = newBitset(p.vars)
	}
	for _, d := range picks {
		selected.put(d.pick)
	}
	bad = broken(ctx, p, j, w, selected, picks)
	if j != nil {
		for _, d := range picks {
			selected.drop(d.pick)
		}
		j.idle.put(selected)
	}
	return bad
}

func broken(ctx context.Context, p *Problem, j *judge, w *change, selected *bitset, picks []decision) (bad string) {
	poll := poll{ctx: ctx}
	broken := func(id int32) bool {
		if poll.ended || w.drops(id) {
			return false
		}
		c := &p.cons[id]
		poll.spend(2 + int(c.end-c.start))
		if holds(p, c, selected) {
			return false
		}
		bad = fmt.Sprintf("constraint %d (%s)", id, p.Constraint(int(id)).Demand())
		return true
	}
	if w != nil {
		for _, v := range w.require {
			if !selected.has(v) {
				return p.Name(v) + " is supposed to be required"
			}
		}
		for _, v := range w.forbid {
			if selected.has(v) {
				return p.Name(v) + " is supposed not to be allowed"
			}
		}
	}
	if j == nil {
		for id := range p.cons {
			if broken(int32(id)) {
				return bad
			}
		}
		return ""
	}
	if slices.ContainsFunc(j.always, broken) {
		return bad
	}
	for _, d := range picks {
		if slices.ContainsFunc(j.touched[j.start[d.pick]:j.start[d.pick+1]], broken) {
			return bad
		}
	}
	return ""
}

func holds(p *Problem, c *con, selected *bitset) bool {
	lits := p.lits[c.start:c.end]
	switch {
	case c.kind == Limitation:
		n := 0
		for _, l := range lits { // no variable is in it twice
			if selected.has(l.Var()) {
				n++
			}
		}
		return n <= int(c.n)
	case c.subject != 0 && !selected.has(c.subject):
		return true
	}
	for _, l := range lits {
		if selected.has(l.Var()) == l.Selects() {
			return true
		}
	}
	return false
}
