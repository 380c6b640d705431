package solver

import (
	"cmp"
	"slices"
)

// A proofLog contains the clauses that a cdcl derived, each with what it
// follows from, in the order that unit propagation needs.
type proofLog struct {
	pages [][]lemma // of lemmasAtOnce each: one list would be copied whenever it grows
	size  int
	facts map[Var]int32 // by variable of level 0: what it follows from: a constraint, or -1 minus a lemma
	read  int           // how much of level 0 is in facts
}

func newProofLog() *proofLog { return &proofLog{facts: make(map[Var]int32)} }

// A lemma is a derived clause: if all its literals fail, the hints, one after
// the other, each force a literal, and the last one clashes. A hint is a
// constraint, or -1 minus an earlier lemma.
type lemma struct {
	lits   []Lit
	hints  []int32
	counts bool // the hints are added up
}

// derive logs a clause that c has just found, and returns its number.
func (g *proofLog) derive(c *cdcl, lits []Lit) int32 {
	return g.add(slices.Clone(lits), g.because(c))
}

// lemmasAtOnce is the number of lemmas per page.
const lemmasAtOnce = 1024

// add logs a lemma, and returns its number.
func (g *proofLog) add(lits []Lit, hints []int32) int32 {
	if g.size%lemmasAtOnce == 0 {
		g.pages = append(g.pages, nil)
	}
	last := &g.pages[g.size/lemmasAtOnce]
	*last = append(*last, lemma{lits: lits, hints: hints})
	g.size++
	return int32(g.size - 1)
}

// of returns the lemma with the given number.
func (g *proofLog) of(i int) *lemma { return &g.pages[i/lemmasAtOnce][i%lemmasAtOnce] }

// hints returns the hints of a clause that c has just found.
func (g *proofLog) hints(c *cdcl) []int {
	var all []int
	for _, h := range g.because(c) {
		all = append(all, int(h))
	}
	return all
}

// because returns what a clause that c has just found follows from.
func (g *proofLog) because(c *cdcl) []int32 {
	g.settle(c)
	var hints []int32
	for _, v := range c.clear {
		if c.poll.spend(4); c.vars[v].level == 0 {
			hints = append(hints, g.facts[v])
		}
	}
	slices.Reverse(c.used) // found from the last to the first, except for what was left out
	slices.SortStableFunc(c.used, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	limits := make(map[int32]bool)
	for i, u := range c.used {
		from := c.from(u.by)
		if _, ok := u.by.limit(); ok && i < len(c.used)-1 { // it may have forced several
			if limits[from] {
				continue
			}
			limits[from] = true
		}
		hints = append(hints, from)
	}
	return hints
}

// from returns how the proof refers to a reason.
func (c *cdcl) from(r reason) int32 {
	if at, ok := r.limit(); ok {
		return c.limits[at].con
	}
	return c.clauses[r].from
}

// settle records what each literal of level 0 follows from. If the poll is
// over, it records less, and what is logged then is unusable.
func (g *proofLog) settle(c *cdcl) {
	end := len(c.trail)
	if c.level() > 0 {
		end = int(c.begin[0])
	}
	for ; g.read < end && !c.poll.over(); g.read++ {
		l := c.trail[g.read]
		r := c.vars[l.Var()].reason
		if _, ok := r.limit(); !ok && c.clauses[r].end-c.clauses[r].start == 1 {
			g.facts[l.Var()] = c.from(r)
			continue
		}
		hints := g.forced(c, r, l)
		g.facts[l.Var()] = -1 - g.add([]Lit{l}, hints)
	}
}

// forced returns the hints by which r forces l, or clashes, on level 0.
func (g *proofLog) forced(c *cdcl, r reason, l Lit) []int32 {
	var hints []int32
	for _, m := range c.explain(r, l) {
		if c.poll.spend(16); m != l {
			hints = append(hints, g.facts[m.Var()])
		}
	}
	return append(hints, c.from(r))
}

// refute logs the empty clause of a cdcl that is dead, and returns its number.
func (g *proofLog) refute(c *cdcl) int32 {
	c.back(0)
	g.settle(c)
	return g.add(nil, g.forced(c, c.clash, 0))
}
