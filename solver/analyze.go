package solver

// analysis is the working state with which a cdcl learns from a clash.
type analysis struct {
	seen  []bool // by variable
	clear []Var  // the variables marked in seen
	why   []Lit  // the result of explain
	chain []Lit  // the working state of follows
	used  []step // what the clash rests on, if there is a proof

	spanned []int64 // by level: the number of the last clause found to span it
	spans   int64   // how many clauses were examined
}

// A step is a reason that a clash rests on, and the position on the trail of
// what it forces.
type step struct {
	at int32
	by reason
}

// explain returns the failing literals through which r forces l or, if l is 0,
// clashes. If r is a clause, l is among them. The result is valid until the
// next call.
func (c *cdcl) explain(r reason, l Lit) []Lit {
	at, ok := r.limit()
	if !ok {
		own := &c.clauses[r]
		return c.lits[own.start:own.end]
	}
	m := &c.limits[at]
	c.why = c.why[:0]
	before, want := int32(c.told), m.n+1
	if l != 0 {
		before = c.vars[l.Var()].at
	}
	if m.guard != 0 && l != -m.guard {
		c.why = append(c.why, -m.guard)
	}
	if l != 0 && l != -m.guard {
		want = m.n
	}
	// Do not scan a limitation of many variables for one or two.
	switch {
	case want == 1 && (m.now == 1 || m.now == 2 && c.vars[m.first].at < before):
		c.why = append(c.why, -Lit(m.first))
		return c.why
	case want == 2 && m.now == 2 && max(c.vars[m.first].at, c.vars[m.second].at) < before:
		c.why = append(c.why, -Lit(m.first), -Lit(m.second))
		return c.why
	}
	for _, v := range m.vars {
		c.poll.spend(1)
		if want > 0 && c.value(v) > 0 && c.vars[v].at < before {
			c.why = append(c.why, -v)
			want--
		}
	}
	return c.why
}

// mark records that the clash rests on a failing literal, and reports whether
// that is new and the literal is above level 0.
func (c *cdcl) mark(l Lit) bool {
	v := l.Var()
	if c.seen[v] {
		return false
	}
	c.seen[v] = true
	c.clear = append(c.clear, v)
	return c.vars[v].level > 0
}

func (c *cdcl) unmark() {
	for _, v := range c.clear {
		c.seen[v] = false
	}
	c.clear = c.clear[:0]
}

// analyze returns a clause that follows from the constraints and rules out the
// clash. Its first literal is the only one of the current level (the first
// unique implication point); its second has the highest level of the others.
func (c *cdcl) analyze(r reason) []Lit {
	c.used = c.used[:0]
	learned := []Lit{0}
	open, at := 0, len(c.trail)
	level := c.level()
	l := Lit(0)
	for {
		c.rest(r, l)
		for _, m := range c.explain(r, l) {
			if m == l || !c.mark(m) {
				continue
			}
			c.order.bump(m.Var())
			if c.vars[m.Var()].level == level {
				open++
			} else {
				learned = append(learned, m)
			}
		}
		before := at
		for at--; !c.seen[c.trail[at].Var()]; at-- {
		}
		c.poll.spend(before - at)
		l = c.trail[at]
		if open--; open == 0 {
			break
		}
		r = c.vars[l.Var()].reason
	}
	learned[0] = -l
	c.order.decay()
	learned = c.shorten(learned)
	second := 1
	for i := 1; i < len(learned); i++ {
		if c.vars[learned[i].Var()].level > c.vars[learned[second].Var()].level {
			second = i
		}
	}
	if len(learned) > 1 {
		learned[1], learned[second] = learned[second], learned[1]
	}
	return learned
}

// shorten removes the literals that follow from the others, directly or by what
// else follows from those (Sorensson and Biere 2009).
func (c *cdcl) shorten(learned []Lit) []Lit {
	levels := uint64(0) // of the clause, each as one bit
	for _, m := range learned[1:] {
		levels |= levelBit(c.vars[m.Var()].level)
	}
	kept := learned[:1]
	for _, m := range learned[1:] {
		if c.vars[m.Var()].reason == free || !c.follows(m, levels) {
			kept = append(kept, m)
		}
	}
	return kept
}

func levelBit(level int32) uint64 { return 1 << (level & 63) }

// follows reports whether a failing literal follows from the marked ones. If so,
// it marks what leads to it, and records that the clash rests on that.
func (c *cdcl) follows(m Lit, levels uint64) bool {
	marked := len(c.clear)
	c.chain = append(c.chain[:0], m)
	for i := 0; i < len(c.chain); i++ {
		m := c.chain[i]
		for _, l := range c.explain(c.vars[m.Var()].reason, -m) {
			at := &c.vars[l.Var()]
			if c.poll.spend(1); l == -m || at.level == 0 || c.seen[l.Var()] {
				continue
			}
			if at.reason == free || levels&levelBit(at.level) == 0 {
				for _, v := range c.clear[marked:] {
					c.seen[v] = false
				}
				c.clear = c.clear[:marked]
				return false
			}
			c.mark(l)
			c.chain = append(c.chain, l)
		}
	}
	if c.proof == nil {
		return true
	}
	for _, m := range c.chain {
		r := c.vars[m.Var()].reason
		c.rest(r, -m)
		for _, l := range c.explain(r, -m) {
			if l != -m && c.vars[l.Var()].level == 0 {
				c.mark(l)
			}
		}
	}
	return true
}

// blame returns a clause that follows from the constraints and denies some of
// the decisions, which are impossible together: because r clashes or, if l is
// given, because l fails. The denial of l must not itself be a decision.
func (c *cdcl) blame(r reason, l Lit) []Lit {
	c.used = c.used[:0]
	var learned []Lit
	open := 0 // how many are marked and not yet reached on the way down the trail
	mark := func(l Lit) {
		if c.mark(l) {
			open++
		}
	}
	if l != 0 {
		learned = append(learned, -l)
		mark(l)
	} else {
		c.rest(r, 0)
		for _, m := range c.explain(r, 0) {
			mark(m)
		}
	}
	for at := len(c.trail) - 1; open > 0; at-- {
		c.poll.spend(1)
		m := c.trail[at]
		own := c.vars[m.Var()]
		switch {
		case !c.seen[m.Var()] || own.level == 0:
		case own.reason == free:
			open--
			learned = append(learned, -m)
		default:
			open--
			c.rest(own.reason, m)
			for _, k := range c.explain(own.reason, m) {
				if k != m {
					mark(k)
				}
			}
		}
	}
	return learned
}

// rest records a reason that the clash rests on.
func (c *cdcl) rest(r reason, l Lit) {
	if c.proof == nil {
		return
	}
	at := int32(len(c.trail))
	if l != 0 {
		at = c.vars[l.Var()].at
	}
	c.used = append(c.used, step{at, r})
}

// learn adds a clause that follows from the constraints. It is called after
// analyze or blame, and clears their marks. The current level must be below
// those of all literals of the clause, or be that of the second.
func (c *cdcl) learn(lits []Lit, lbd int32) (unit bool, r reason) {
	from := int32(-1)
	if c.proof != nil {
		from = -1 - c.proof.derive(c, lits)
	}
	c.unmark()
	start := int32(len(c.lits))
	c.lits = append(c.lits, lits...)
	r = reason(len(c.clauses))
	c.clauses = append(c.clauses, clause{start: start, end: int32(len(c.lits)), from: from, lbd: max(1, lbd)})
	c.learned++
	c.attach(int32(r))
	return len(lits) == 1, r
}

// span returns how many distinct levels the literals have.
func (c *cdcl) span(lits []Lit) int32 {
	c.spans++
	n := int32(0)
	for _, l := range lits {
		level := int(c.vars[l.Var()].level)
		for len(c.spanned) <= level {
			c.spanned = append(c.spanned, 0)
		}
		if c.spanned[level] != c.spans {
			c.spanned[level] = c.spans
			n++
		}
	}
	return n
}

// fail records that the constraints are refuted by r, which clashes on level 0.
func (c *cdcl) fail(r reason) {
	c.dead, c.clash = true, r
}
