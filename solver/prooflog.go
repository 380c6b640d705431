package solver

import (
	"cmp"
	"slices"
)

// A proofLog holds the clauses that a cdcl derived, each with what it follows
// from, in the order in which unit propagation needs them.
type proofLog struct {
	lemmas []lemma
	facts  map[Var]int32 // by variable of level 0: what says so: a constraint, or -1 - a lemma
	read   int           // how much of level 0 is in facts
}

// A lemma is a clause that follows: where all its literals fail, the hints, one
// after the other, each force a literal, and the last one clashes. A hint is a
// constraint, or -1 - an earlier lemma.
type lemma struct {
	lits  []Lit
	hints []int32
}

// derive logs a clause that c has just found, and returns its number.
func (g *proofLog) derive(c *cdcl, lits []Lit) int32 {
	g.settle(c)
	var hints []int32
	for _, v := range c.clear {
		if own := c.vars[v]; own.level == 0 && c.vals[side(v.Yes())] != 0 && !slices.Contains(lits, v.Yes()) && !slices.Contains(lits, v.No()) {
			hints = append(hints, g.facts[v])
		}
	}
	return g.log(c, lits, hints)
}

// log adds a lemma that follows from those hints and from what c used.
func (g *proofLog) log(c *cdcl, lits []Lit, hints []int32) int32 {
	slices.SortStableFunc(c.used, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	for i, u := range c.used {
		from := c.from(u.by)
		if i == len(c.used)-1 || !slices.Contains(hints, from) { // a limitation may have forced several
			hints = append(hints, from)
		}
	}
	g.lemmas = append(g.lemmas, lemma{slices.Clone(lits), hints})
	return int32(len(g.lemmas) - 1)
}

// from returns what a reason is to the proof.
func (c *cdcl) from(r reason) int32 {
	if at, ok := r.limit(); ok {
		return c.limits[at].con
	}
	return c.clauses[r].from
}

// settle finds what says what holds on level 0.
func (g *proofLog) settle(c *cdcl) {
	end := len(c.trail)
	if c.level() > 0 {
		end = int(c.begin[0])
	}
	for ; g.read < end; g.read++ {
		l := c.trail[g.read]
		r := c.vars[l.Var()].reason
		if _, ok := r.limit(); !ok && c.clauses[r].end-c.clauses[r].start == 1 {
			g.facts[l.Var()] = c.from(r)
			continue
		}
		hints := g.because(c, r, l)
		g.lemmas = append(g.lemmas, lemma{[]Lit{l}, hints})
		g.facts[l.Var()] = -int32(len(g.lemmas))
	}
}

// because returns why r forces l, or clashes, on level 0.
func (g *proofLog) because(c *cdcl, r reason, l Lit) []int32 {
	var hints []int32
	for _, m := range c.explain(r, l) {
		if m != l && !slices.Contains(hints, g.facts[m.Var()]) {
			hints = append(hints, g.facts[m.Var()])
		}
	}
	return append(hints, c.from(r))
}

// refute logs the empty clause of a cdcl that is dead, and returns its number.
func (g *proofLog) refute(c *cdcl) int32 {
	c.back(0)
	g.settle(c)
	g.lemmas = append(g.lemmas, lemma{nil, g.because(c, c.clash, 0)})
	return int32(len(g.lemmas) - 1)
}
