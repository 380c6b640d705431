package solver

import (
	"context"
	"fmt"
)

// A dpll is the search of the judge: Davis, Putnam, Logemann and Loveland's of
// 1962, on the constraints as they were given. It learns nothing but which
// constraints are trouble, and tries those first (Boussemart, Hemery, Lecoutre
// and Sais 2004). It shares no code with what looks for answers.
type dpll struct {
	ctx     context.Context
	cons    []Constraint
	trouble []int         // by constraint: 1 + how often it was broken
	of      map[Var][]int // the constraints that speak of the variable
	value   map[Var]int8  // 1 selected, -1 not; open otherwise
	trail   []Var
	done    int // how much of the trail has been drawn from
	left    int // steps
	err     error
}

// contradicts reports whether the constraints and the facts cannot be met
// together: unsat if so, sat if not, unknown past the bound.
func contradicts(ctx context.Context, p *Problem, core []int, facts []Lit, opts *CheckOptions) (verdict, error) {
	d := &dpll{ctx: ctx, of: make(map[Var][]int), value: make(map[Var]int8), left: opts.maxSteps()}
	for i, id := range core {
		if id < 0 || id >= len(p.cons) {
			return unknown, &CertificateError{-1, fmt.Sprintf("there is no constraint %d", id)}
		}
		c := p.Constraint(id)
		d.cons = append(d.cons, c)
		d.trouble = append(d.trouble, 1)
		for _, l := range c.Lits {
			d.of[l.Var()] = append(d.of[l.Var()], i)
		}
	}
	for _, l := range facts {
		if d.state(l) < 0 {
			return unsat, nil
		}
		d.set(l)
	}
	for i := range d.cons {
		if !d.look(i) {
			return unsat, nil
		}
	}
	return d.search(), d.err
}

func (d *dpll) state(l Lit) int8 {
	if l.Selects() {
		return d.value[l.Var()]
	}
	return -d.value[l.Var()]
}

func (d *dpll) set(l Lit) {
	if d.state(l) != 0 {
		return
	}
	d.value[l.Var()] = 1
	if !l.Selects() {
		d.value[l.Var()] = -1
	}
	d.trail = append(d.trail, l.Var())
}

func (d *dpll) undo(mark int) {
	for _, v := range d.trail[mark:] {
		delete(d.value, v)
	}
	d.trail = d.trail[:mark]
	d.done = mark
}

// search tries both values of an open literal, until every constraint is met or
// none can be.
func (d *dpll) search() verdict {
	if !d.draw() {
		return unsat
	}
	branch := d.branch()
	switch {
	case d.left < 0 || d.err != nil:
		return unknown
	case branch == 0:
		return sat
	}
	mark := len(d.trail)
	for _, l := range []Lit{branch, -branch} {
		d.set(l)
		if v := d.search(); v != unsat {
			return v
		}
		d.undo(mark)
	}
	return unsat
}

// draw looks at what the trail touches until nothing new follows. It reports
// whether there was no contradiction.
func (d *dpll) draw() bool {
	for ; d.done < len(d.trail) && d.left >= 0; d.done++ {
		for _, i := range d.of[d.trail[d.done]] {
			if !d.look(i) {
				d.trouble[i]++
				return false
			}
		}
	}
	return true
}

// look draws what one constraint forces. It reports whether it can be met.
func (d *dpll) look(i int) bool {
	d.left--
	c := d.cons[i]
	if c.Kind == Limitation {
		return d.limitation(c)
	}
	met, open, one := d.clause(c)
	if one {
		d.set(open)
	}
	return met || open != 0
}

// clause tells whether a literal of c holds; if not, the first open one, and
// whether it is the only one.
func (d *dpll) clause(c Constraint) (met bool, open Lit, one bool) {
	for _, l := range c.Lits {
		switch s := d.state(l); {
		case s > 0:
			return true, 0, false
		case s == 0 && open == 0:
			open, one = l, true
		case s == 0 && l != open:
			one = false
		}
	}
	return false, open, one
}

func (d *dpll) limitation(c Constraint) bool {
	n := 0
	for _, l := range c.Lits {
		if d.state(l) > 0 {
			n++
		}
	}
	for _, l := range c.Lits {
		if n == c.N && d.state(l) == 0 {
			d.set(-l)
		}
	}
	return n <= c.N
}

// branch returns an open literal of the clause that is not met and has the least
// open literals for the trouble it made; or 0 when all are met. Limitations are
// met then, too, by leaving out what is open.
func (d *dpll) branch() Lit {
	if d.err = d.ctx.Err(); d.err != nil {
		return 0
	}
	var best Lit
	var bestOpen, bestTrouble int
	for i, c := range d.cons {
		if c.Kind == Limitation {
			continue
		}
		d.left--
		met, first, _ := d.clause(c)
		if met {
			continue
		}
		open := 0
		for _, l := range c.Lits {
			if d.state(l) == 0 {
				open++
			}
		}
		if best == 0 || open*bestTrouble < bestOpen*d.trouble[i] {
			best, bestOpen, bestTrouble = first, open, d.trouble[i]
		}
	}
	return best
}
