package solver

// This file contains what a cdcl does with limitations: it counts.

// A limitation allows at most n of its variables.
type limitation struct {
	vars   []Lit
	n, now int32
	con    int32
	first  Var // the one that was counted first
	second Var // and the one after it
	guard  Lit // the limitation is in force if it holds; it fails if the limitation is broken; or 0
	lazy   bool
}

// lazyFrom is the number of variables from which a limitation is lazy: when it
// is used up, its other variables are not left out one by one, but each when it
// is about to be picked. Otherwise trying all of n versions would cost n times
// n steps.
const lazyFrom = 1000

// count finds, for each variable, the limitations that list it.
func (c *cdcl) count(vars, members int) {
	if members == 0 {
		return
	}
	c.limited.start = make([]int32, vars+2)
	for i := range c.limits {
		for _, l := range c.limits[i].vars {
			c.poll.spend(1)
			c.limited.count(l.Var())
		}
		if g := c.limits[i].guard; g != 0 {
			if c.guarded == nil {
				c.guarded = make(map[Var]int32)
			}
			c.guarded[g.Var()] = int32(i)
		}
	}
	c.limited.items = list[int32](&c.poll, members)
	if c.limited.begin(&c.poll); c.poll.ended {
		return
	}
	for i := range c.limits {
		for _, l := range c.limits[i].vars {
			if c.poll.spend(1) {
				return
			}
			c.limited.add(l.Var(), int32(i))
		}
		if c.limits[i].n == 0 && c.limits[i].guard == 0 {
			c.close(int32(i)) // nothing is assigned yet
		}
	}
}

func (c *cdcl) limitsOf(l Lit) []int32 {
	if int(l)+1 >= len(c.limited.start) {
		return nil
	}
	return c.limited.of(l.Var())
}

func (c *cdcl) addedOf(l Lit) []int32 {
	if c.added == nil {
		return nil
	}
	return c.added[l]
}

// tell counts a selection. All counts are updated even if a limit is exceeded,
// because back undoes all of them.
func (c *cdcl) tell(l Lit) reason {
	if l < 0 && len(c.guarded) == 0 {
		return free
	}
	var lists [2][]int32
	if l > 0 {
		lists = [2][]int32{c.limitsOf(l), c.addedOf(l)}
	}
	for _, list := range lists {
		for _, at := range list {
			m := &c.limits[at]
			switch m.now++; m.now {
			case 1:
				m.first = l.Var()
			case 2:
				m.second = l.Var()
			}
		}
	}
	if len(c.guarded) > 0 {
		if at, ok := c.guarded[l.Var()]; ok && l == c.limits[at].guard {
			if r := c.use(at); r != free {
				return r
			}
		}
	}
	for _, list := range lists {
		for _, at := range list {
			if r := c.use(at); r != free {
				return r
			}
		}
	}
	return free
}

// use assigns what follows from a limitation.
func (c *cdcl) use(at int32) reason {
	m := &c.limits[at]
	on := int8(1)
	if m.guard != 0 {
		on = c.value(m.guard)
	}
	switch {
	case m.now < m.n || on < 0:
	case m.now > m.n && on > 0:
		return limitReason(at)
	case m.now > m.n:
		c.put(-m.guard, limitReason(at))
	case on > 0 && !m.lazy:
		c.close(at)
	}
	return free
}

// full leaves out an open variable if a lazy limitation has no room for it, and
// reports whether it did. What follows from that is still to be propagated.
func (c *cdcl) full(l Lit) bool {
	if !c.lazy {
		return false
	}
	for _, at := range c.limitsOf(l) {
		if m := &c.limits[at]; m.lazy && m.now >= m.n && (m.guard == 0 || c.value(m.guard) > 0) {
			c.put(-l, limitReason(at))
			return true
		}
	}
	return false
}

// close leaves out the open variables of a limitation that is used up, but for
// those that cannot be selected anyway: they are counted if they are.
func (c *cdcl) close(at int32) {
	r := limitReason(at)
	m := &c.limits[at]
	c.poll.spend(len(m.vars))
	aside := c.aside()
	for _, l := range m.vars {
		if c.vals[side(l)] == 0 && (aside == nil || !aside.lacks(-l)) {
			c.put(-l, r)
		}
	}
}

// addLimit adds, on level 0, that at most n of the variables hold if the guard
// does; in a proof it is the constraint with the given ID.
func (c *cdcl) addLimit(vars []Lit, n int32, guard Lit, id int32) {
	if c.added == nil {
		c.added = list[[]int32](&c.poll, len(c.vars))
	}
	if c.added == nil {
		return // the context has ended
	}
	if c.guarded == nil {
		c.guarded = make(map[Var]int32)
	}
	at := int32(len(c.limits))
	m := limitation{vars: vars, n: n, con: id, guard: guard}
	for _, l := range vars {
		c.poll.spend(16)
		c.added[l] = append(c.added[l], at)
		if c.value(l) > 0 && int(c.vars[l].at) < c.told {
			switch m.now++; m.now {
			case 1:
				m.first = l.Var()
			case 2:
				m.second = l.Var()
			}
		}
	}
	c.limits = append(c.limits, m)
	c.guarded[guard.Var()] = at
	if r := c.use(at); r != free {
		c.fail(r)
	}
}
