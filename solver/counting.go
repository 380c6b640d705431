package solver

import "slices"

// This file contains what a cdcl does where learning clauses does not help:
// more demands than the limitations leave room for (ten operators that need one
// of nine APIs each), which takes exponentially many clauses to refute, and one
// addition.

// countFrom is the number of rounds of all probes after which demands are
// counted for the first time; the next time is after twice as many. Counting
// costs as much as a few hundred conflicts.
const countFrom = 12

// demandsMax is the number of demands up to which they are counted.
const demandsMax = 20_000

// A want is a demand of what holds so far: one of its candidates is selected,
// each of which takes up room in a limitation.
type want struct {
	clause int32
	limits []int32 // each once
}

// crowd looks for demands that the limitations have no room for, given what
// holds on the present level, which is that of what is assumed. It returns them
// and the limitations, or none.
func (c *cdcl) crowd() (demands []want, limits []int32) {
	wants := c.wants()
	if len(wants) < 2 || len(wants) > demandsMax {
		return nil, nil
	}
	// Find room for each want, moving others if necessary (Kuhn 1955).
	in := make(map[int32][]int) // by limitation: the wants that it has room for
	for i := range wants {
		seen := make(map[int32]bool)
		if c.seat(wants, in, seen, i) || c.poll.ended {
			continue
		}
		// Whatever i could take up is full of wants that cannot move.
		demands = append(demands, wants[i])
		for at := range seen {
			limits = append(limits, at)
			for _, j := range in[at] {
				demands = append(demands, wants[j])
			}
		}
		slices.Sort(limits)
		slices.SortFunc(demands, func(a, b want) int { return int(a.clause - b.clause) })
		return demands, limits
	}
	return nil, nil
}

// seat makes room for a want. It reports false if there is none, and has then
// seen all limitations that could be asked.
func (c *cdcl) seat(wants []want, in map[int32][]int, seen map[int32]bool, i int) bool {
	for _, at := range wants[i].limits {
		if c.poll.spend(16); seen[at] || c.poll.ended {
			continue
		}
		seen[at] = true
		if len(in[at]) < int(c.limits[at].n) {
			in[at] = append(in[at], i)
			return true
		}
		for k, j := range in[at] {
			if c.seat(wants, in, seen, j) {
				in[at][k] = i
				return true
			}
		}
	}
	return false
}

// wants returns the demands whose open candidates all take up room, and of
// which no two have a candidate in common.
func (c *cdcl) wants() []want {
	uses := make(map[int32]int) // by limitation: how many demands have a candidate in it
	var found []want
	taken := make(map[Lit]bool)
	for i := range c.clauses[:c.stated] {
		lits, ok := c.open(int32(i), taken)
		if c.poll.spend(4 + len(lits)); !ok || c.poll.ended {
			continue
		}
		counted := make(map[int32]bool)
		for _, l := range lits {
			taken[l] = true
			for _, at := range c.limitsOf(l) {
				if c.poll.spend(4); !counted[at] && c.inForce(at) {
					counted[at] = true
					uses[at]++
				}
			}
		}
		found = append(found, want{clause: int32(i)})
	}
	kept := found[:0]
	for _, w := range found {
		lits, _ := c.open(w.clause, nil)
		for _, l := range lits {
			best := int32(-1)
			for _, at := range c.limitsOf(l) {
				if c.poll.spend(4); c.inForce(at) && (best < 0 || uses[at] > uses[best]) {
					best = at
				}
			}
			if best < 0 {
				w.limits = nil
				break
			}
			if !slices.Contains(w.limits, best) {
				w.limits = append(w.limits, best)
			}
		}
		if w.limits != nil {
			kept = append(kept, w)
		}
	}
	return kept
}

// inForce reports whether a limitation holds whatever is selected.
func (c *cdcl) inForce(at int32) bool {
	g := c.limits[at].guard
	return g == 0 || c.value(g) > 0
}

// open returns the literals of a clause that do not fail, if they are all
// candidates that are not taken, and there is one.
func (c *cdcl) open(clause int32, taken map[Lit]bool) (lits []Lit, ok bool) {
	own := &c.clauses[clause]
	for _, l := range c.lits[own.start:own.end] {
		switch {
		case c.value(l) < 0:
		case l < 0 || taken[l]:
			return nil, false
		default:
			lits = append(lits, l)
		}
	}
	return lits, len(lits) > 0
}

// counted learns that there is no room for demands, as a clause of which every
// literal fails on the present level, and returns that.
func (c *cdcl) counted(demands []want, limits []int32) reason {
	var lits []Lit
	var hints []int32
	for _, w := range demands {
		own := &c.clauses[w.clause]
		hints = append(hints, own.from)
		for _, l := range c.lits[own.start:own.end] {
			if c.value(l) < 0 {
				lits = append(lits, l)
			}
		}
	}
	for _, at := range limits {
		hints = append(hints, c.limits[at].con)
		if g := c.limits[at].guard; g != 0 {
			lits = append(lits, -g)
		}
	}
	slices.Sort(lits)
	lits = slices.Compact(lits)
	from := int32(-1)
	if c.proof != nil {
		from = -1 - c.proof.add(slices.Clone(lits), hints)
		c.proof.of(int(-1 - from)).counts = true
	}
	start := int32(len(c.lits))
	c.lits = append(c.lits, lits...)
	c.clauses = append(c.clauses, clause{start: start, end: int32(len(c.lits)), from: from, lbd: 1}) // not watched: it is used once
	c.learned++
	return reason(len(c.clauses) - 1)
}
