package solver

import "context"

// A propagator draws the conclusions that follow from single constraints, one
// after the other: unit propagation, on the constraints themselves. It finds
// most of what rules a candidate out, at a fraction of the cost of a search.
type propagator struct {
	value   []int8 // by variable: 1 selected, -1 not, 0 open
	trail   []Lit  // what holds, in the order of assertion
	done    int    // how much of the trail has been drawn from
	lits    []Lit  // of all clauses, one after the other
	clauses []span
	watches [][]int32 // by side of a variable: clauses to look at when it fails
	limits  []count
	counts  [][]int32 // by variable: the limits that list it
}

// A count is a limitation.
type count struct {
	vars     []Lit
	max, now int32
}

// side is the index of a literal in watches.
func side(l Lit) int {
	if l < 0 {
		return int(-l)<<1 | 1
	}
	return int(l) << 1
}

func newPropagator(p *Problem) *propagator {
	return &propagator{
		value:   make([]int8, p.vars+1),
		watches: make([][]int32, 2*p.vars+2),
		counts:  make([][]int32, p.vars+1),
	}
}

// add adds constraints and draws what follows from them alone. It reports
// whether there was no contradiction; if there was, nothing is drawn. When ctx
// ends, the propagator is of no use.
func (g *propagator) add(ctx context.Context, p *Problem, cons []int32) bool {
	poll := poll{ctx: ctx}
	var facts []Lit // after all else, so that every constraint sees them
	for _, id := range cons {
		if poll.over() {
			return false
		}
		c := &p.cons[id]
		lits := p.litsOf(c)
		switch {
		case c.kind != Limitation && len(lits) <= 1:
			if len(lits) == 0 {
				return false
			}
			facts = append(facts, lits[0])
		case c.kind != Limitation:
			g.clause(lits)
		case c.n == 0:
			for _, l := range lits {
				facts = append(facts, -l)
			}
		case int(c.n) < len(lits):
			g.limit(lits, c.n)
		}
	}
	return g.all(facts)
}

// all asserts all of the literals, or none if that is a contradiction.
func (g *propagator) all(lits []Lit) bool {
	mark := g.mark()
	for _, l := range lits {
		if !g.assert(l) {
			g.undo(mark)
			return false
		}
	}
	return true
}

func (g *propagator) limit(vars []Lit, n int32) {
	at := int32(len(g.limits))
	g.limits = append(g.limits, count{vars: vars, max: n})
	for _, l := range vars {
		g.counts[l] = append(g.counts[l], at)
	}
}

// clause adds a clause. Where all of its literals but one have failed already,
// it draws the conclusion. It reports whether there was no contradiction.
func (g *propagator) clause(lits []Lit) bool {
	start := len(g.lits)
	g.lits = append(g.lits, lits...)
	own := g.lits[start:]
	open := 0 // the literals that have not failed go first
	for i, l := range own {
		if g.holds(l) >= 0 {
			own[i], own[open] = own[open], l
			open++
		}
	}
	if len(own) >= 2 {
		at := int32(len(g.clauses))
		g.clauses = append(g.clauses, span{int32(start), int32(len(g.lits))})
		for _, l := range own[:2] {
			g.watches[side(l)] = append(g.watches[side(l)], at)
		}
	}
	return open > 1 || open == 1 && g.assert(own[0])
}

// holds returns 1 when l holds, -1 when it fails, else 0.
func (g *propagator) holds(l Lit) int8 {
	if l < 0 {
		return -g.value[-l]
	}
	return g.value[l]
}

// mark is a place in the trail to come back to.
func (g *propagator) mark() int { return len(g.trail) }

// undo takes back what was asserted since the mark.
func (g *propagator) undo(mark int) {
	for i := len(g.trail) - 1; i >= mark; i-- {
		l := g.trail[i]
		g.value[l.Var()] = 0
		if l > 0 && i < g.done {
			for _, at := range g.counts[l] {
				g.limits[at].now--
			}
		}
	}
	g.trail = g.trail[:mark]
	g.done = min(g.done, mark)
}

// assert takes l for true and draws the conclusions. It reports whether there
// was no contradiction; if there was, only undo may follow.
func (g *propagator) assert(l Lit) bool {
	if !g.put(l) {
		return false
	}
	for g.done < len(g.trail) {
		l := g.trail[g.done]
		g.done++
		if l > 0 && !g.tally(l) || !g.visit(-l) {
			return false
		}
	}
	return true
}

func (g *propagator) put(l Lit) bool {
	switch g.holds(l) {
	case 1:
		return true
	case -1:
		return false
	}
	g.value[l.Var()] = 1
	if l < 0 {
		g.value[-l] = -1
	}
	g.trail = append(g.trail, l)
	return true
}

// tally counts a selection. All counts are kept right even where one is
// overrun, since undo takes all of them back.
func (g *propagator) tally(l Lit) bool {
	ok := true
	for _, at := range g.counts[l] {
		c := &g.limits[at]
		c.now++
		ok = ok && c.now <= c.max
	}
	if !ok {
		return false
	}
	for _, at := range g.counts[l] {
		if c := &g.limits[at]; c.now == c.max {
			for _, other := range c.vars {
				if g.value[other] == 0 {
					g.put(-other)
				}
			}
		}
	}
	return true
}

// visit looks at the clauses that watch l, which failed.
func (g *propagator) visit(l Lit) bool {
	watching := g.watches[side(l)]
	kept := watching[:0]
	for i, at := range watching {
		c := g.clauses[at]
		lits := g.lits[c.start:c.end]
		if lits[0] == l {
			lits[0], lits[1] = lits[1], lits[0]
		}
		if g.holds(lits[0]) > 0 || !g.rewatch(lits, at) {
			kept = append(kept, at)
			if !g.put(lits[0]) {
				kept = append(kept, watching[i+1:]...)
				g.watches[side(l)] = kept
				return false
			}
		}
	}
	g.watches[side(l)] = kept
	return true
}

// rewatch finds another literal to watch in place of the second.
func (g *propagator) rewatch(lits []Lit, at int32) bool {
	for i, l := range lits[2:] {
		if g.holds(l) >= 0 {
			lits[1], lits[i+2] = l, lits[1]
			g.watches[side(l)] = append(g.watches[side(l)], at)
			return true
		}
	}
	return false
}
