package solver

import "slices"

// probe looks for any selection of the part in which the settled picks and the
// next n hold. It decides by activity (see varHeap) among the variables that
// clashed, then in the documented order, and restarts according to the Luby
// sequence.
//
// It returns sat, with the picks in the log; unsat, with a clause that follows
// from the constraints and rules picks out, or without one if what is given is
// contradictory; or unknown if the poll or the budget is over.
func (o *ordered) probe(n int) (verdict, []Lit) {
	c := o.c
	c.order.wake(len(c.vars))
	o.probing = true
	defer func() { c.order.rest(); o.probing = false }()
	var tried []Lit
	for _, d := range o.s.log[o.base+o.settled:][:n] {
		tried = append(tried, d.pick.Yes())
	}
	for round := int64(1); ; round++ {
		c.back(0)
		if o.undo(o.settled + n); c.poll.ended {
			return unknown, nil
		}
		if clash, ok := c.assume(o.assumed()); !ok {
			return unsat, clash
		}
		if c.rounds++; c.rounds >= c.countAt {
			c.countAt = 2 * max(c.rounds, countFrom)
			if v, clash := o.crowded(); v == unsat {
				return v, clash
			}
		}
		v, clash := o.descend(tried, 64*luby(round))
		if v != unknown || c.poll.ended || o.budget.over() {
			return v, clash
		}
		c.reduce()
	}
}

// crowded counts demands. It returns what probe does if there is no room for
// them with what is assumed.
func (o *ordered) crowded() (verdict, []Lit) {
	c := o.c
	demands, limits := c.crowd()
	if limits == nil && demands == nil || c.poll.ended {
		return unknown, nil
	}
	r := c.counted(demands, limits)
	if c.level() == 0 {
		c.fail(r)
		return unsat, nil
	}
	return unsat, c.blame(r, 0)
}

// descend searches until the given number of clashes. It returns what probe
// does; there is no clause with unknown.
func (o *ordered) descend(tried []Lit, clashes int64) (verdict, []Lit) {
	c := o.c
	for {
		r := c.propagate()
		switch {
		case c.poll.ended:
			return unknown, nil
		case r == free && c.level() == 0 && o.floor() > 0: // a clause of one literal was learned
			if clash, ok := c.assume(o.assumed()); !ok {
				return unsat, clash
			}
		case r == free:
			switch l, fails := o.branch(tried); {
			case fails:
				return unsat, c.blame(free, l)
			case l != 0:
				c.decide(l)
			case !o.choose():
				return sat, nil
			}
		case c.level() == 0:
			c.fail(r)
			return unsat, nil
		case c.level() == o.floor():
			return unsat, c.blame(r, 0)
		default:
			o.budget.spent++
			clashes--
			c.resolve(r)
			o.retreat(o.settled + len(tried))
			if c.dead {
				return unsat, nil
			}
			if clashes <= 0 || o.budget.over() {
				return unknown, nil
			}
		}
	}
}

// branch returns what to decide next: the first pick to try that does not hold
// yet, and whether it fails; otherwise an active variable, as it was last; or 0.
func (o *ordered) branch(tried []Lit) (l Lit, fails bool) {
	c := o.c
	if int(c.level()) <= len(tried)+int(o.floor()) {
		for _, l := range tried {
			switch c.value(l) {
			case 0:
				return l, false
			case -1:
				return l, true
			}
		}
	}
	for v := c.order.next(); v != 0; v = c.order.next() {
		switch {
		case c.value(v.Yes()) != 0:
		case c.order.selected[v]:
			return v.Yes(), false
		default:
			return v.No(), false
		}
	}
	return 0, false
}

// assume asserts what is given, on a level of its own. It reports false if that
// is contradicted, with a clause that follows from the constraints and says so,
// or without one if what is given contradicts itself or there is no answer at
// all.
func (c *cdcl) assume(given []Lit) (clash []Lit, ok bool) {
	if r := c.propagate(); r != free {
		c.fail(r)
	}
	if c.dead {
		return nil, false
	}
	if len(given) == 0 || c.level() > 0 {
		return nil, true
	}
	c.begin = append(c.begin, int32(len(c.trail)))
	for _, l := range given {
		c.poll.spend(1)
		switch v := c.value(l); {
		case v == 0:
			c.put(l, free)
		case v < 0 && c.vars[l.Var()].level == 1:
			return nil, false
		case v < 0:
			return c.blame(free, l), false
		}
	}
	if r := c.propagate(); r != free {
		return c.blame(r, 0), false
	}
	return nil, true
}

// resolve learns from a clash above the level of what is given.
func (c *cdcl) resolve(r reason) {
	learned := c.analyze(r)
	lbd := c.span(learned)
	if len(learned) == 1 {
		if c.back(0); c.poll.ended {
			c.unmark()
			return
		}
		c.learn(learned, lbd)
		if !c.assert(learned[0], reason(len(c.clauses)-1)) {
			c.fail(reason(len(c.clauses) - 1))
		}
		return
	}
	if c.back(c.vars[learned[1].Var()].level); c.poll.ended {
		c.unmark()
		return
	}
	_, why := c.learn(learned, lbd)
	c.put(learned[0], why)
}

// record learns a clause that blame returned, on level 0.
func (c *cdcl) record(clash []Lit) {
	c.back(0)
	if len(clash) == 0 || c.poll.ended {
		c.unmark()
		return
	}
	lbd := int32(len(clash))
	_, why := c.learn(clash, lbd)
	if len(clash) == 1 && !c.assert(clash[0], why) {
		c.fail(why)
	}
}

// luby returns element i, counted from 1, of the sequence 1 1 2 1 1 2 4 ...
// (Luby, Sinclair and Zuckerman 1993).
func luby(i int64) int64 {
	for {
		k := int64(1)
		for k < i {
			k = 2*k + 1
		}
		if k == i {
			return (k + 1) / 2
		}
		i -= k / 2
	}
}

// reduceFrom is the number of learned clauses from which those of little use
// are discarded.
const reduceFrom = 4000

// reduce discards up to half of the learned clauses, those that span the most
// levels (Audemard and Simon 2009). It undoes all levels, and keeps the clauses
// that are reasons on level 0. Its cost depends on what was learned.
func (c *cdcl) reduce() {
	if c.learned < reduceFrom+c.kept {
		return
	}
	if c.back(0); c.poll.ended {
		return
	}
	learned := c.clauses[c.stated:]
	spans := make([]int32, len(learned))
	for i := range learned {
		spans[i] = learned[i].lbd
	}
	slices.Sort(spans)
	worst := max(2, spans[len(spans)/2])
	reasons := make(map[int32]bool) // of level 0
	for _, l := range c.trail {
		if r := int32(c.vars[l.Var()].reason) - c.stated; r >= 0 {
			reasons[r] = true
		}
	}
	gone := make([]bool, len(learned))
	for i := range learned {
		own := &learned[i]
		if own.lbd > worst && own.end-own.start > 2 && !reasons[int32(i)] {
			gone[i] = true
			c.learned--
		}
	}
	c.compact(learned, gone)
	c.kept += 1000
}

// compact removes the learned clauses that are gone from everything, and closes
// the gaps that they leave.
func (c *cdcl) compact(learned []clause, gone []bool) {
	renamed := make([]int32, len(learned))
	watched := make(map[int]bool) // by side: it may have watches to rename
	n, lits := int32(0), learned[0].start
	for i, own := range learned {
		for _, l := range c.lits[own.start:min(own.end, own.start+2)] {
			watched[side(l)] = true
		}
		if renamed[i] = c.stated + n; gone[i] {
			renamed[i] = -1
			continue
		}
		size := own.end - own.start
		copy(c.lits[lits:], c.lits[own.start:own.end])
		own.start, own.end = lits, lits+size
		lits += size
		learned[n] = own
		n++
	}
	c.clauses, c.lits = c.clauses[:c.stated+n], c.lits[:lits]
	for s := range watched {
		kept := c.watches[s][:0]
		for _, w := range c.watches[s] {
			switch i := max(w.clause, -1-w.clause); {
			case i < c.stated:
			case renamed[i-c.stated] < 0:
				continue
			case w.clause < 0:
				w.clause = -1 - renamed[i-c.stated]
			default:
				w.clause = renamed[i-c.stated]
			}
			kept = append(kept, w)
		}
		c.watches[s] = kept
	}
	for _, l := range c.trail {
		if r := &c.vars[l.Var()].reason; int32(*r) >= c.stated {
			*r = reason(renamed[int32(*r)-c.stated])
		}
	}
	if c.dead && int32(c.clash) >= c.stated {
		c.clash = reason(renamed[int32(c.clash)-c.stated])
	}
}
