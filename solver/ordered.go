package solver

import "slices"

// An ordered search finds the best selection in one part of a problem by
// conflict-driven clause learning, with decisions in the documented order: for
// the first demand that no pick meets, its first candidate that does not fail.
//
// The result is the best one for this reason: a literal fails only if that
// follows from the constraints and the earlier decisions. So a candidate that
// is passed over is impossible with the earlier picks, and the final state, in
// which no demand is open and nothing clashes, shows that each pick was
// possible.
//
// The order has a price: if the first picks are wrong in a way that shows late,
// the search returns to them late. So after some clashes a probe, which decides
// by activity, finds out whether there is any selection, whatever the picks: if
// not, the order need not be known. The next probes find out whether the picks
// are possible together; those before the first one that is not are settled
// then, and never come up again.
type ordered struct {
	c        *cdcl
	s        *partial // its queue and log are those of the part
	marks    []mark   // by decision of the log: the state before it
	given    []Lit    // what is assumed
	base     int      // where the part's decisions begin in the log
	settled  int      // how many of them are proven
	again    bool     // the next demand is known to be open with the current picks
	rank     int      // and this many of its candidates to be impossible with them
	probing  bool     // there may be decisions that are not picks
	asked    bool     // whether there is any selection
	model    *bitset  // a selection with the settled picks, or nil
	budget   *budget
	clashes  int64 // since the last probe
	patience int64 // how many until the next
}

// A mark is the state of a partial before a pick.
type mark struct {
	level          int32 // of the search, with the pick
	head           int   // the demand's place in the queue
	queue, counted int
	rank           int // this many of its candidates are impossible with the earlier picks
}

// How many clashes pass before a probe: at first, from 20 in a small problem to
// 100 in one of thousands of variables, where a probe costs more; and at most.
const (
	patienceMin   = 20
	patienceFirst = 100
	patienceMax   = 5000
)

// shallow is how many clashes it takes at most to learn that a candidate fails
// for good, if nothing hard is behind it.
const shallow = 6

func newOrdered(c *cdcl, s *partial, given []Lit, b *budget) *ordered {
	patience := min(max(int64(len(c.vars))/64, patienceMin), patienceFirst)
	return &ordered{c: c, s: s, base: len(s.log), given: given, budget: b, patience: patience}
}

// run makes all choices. It returns sat if the log of the partial contains
// them, unsat if there is no answer, and unknown if the poll or the budget is
// over.
func (o *ordered) run() verdict {
	c := o.c
	c.back(0)
	clashed := int64(0) // since something was learned for good
	for !c.poll.ended {
		if c.level() == 0 {
			if clash, ok := c.assume(o.assumed()); !ok {
				c.record(clash)
				return unsat
			}
		}
		r := c.propagate()
		switch {
		case c.poll.ended:
		case r == free:
			if !o.choose() {
				return sat
			}
		case c.level() <= o.floor():
			if c.level() == 0 {
				c.fail(r)
			} else {
				c.record(c.blame(r, 0))
			}
			return unsat
		default:
			o.budget.spent++
			o.clashes++
			c.resolve(r)
			o.retreat(o.settled)
			if clashed++; c.level() <= o.floor() {
				if clashed <= shallow {
					o.clashes -= clashed // it ends by itself
				}
				clashed = 0
			}
			if o.clashes >= o.patience || o.budget.over() {
				if v := o.settle(); v != sat {
					return v
				}
			}
		}
	}
	return unknown
}

// assumed returns what is given and what is settled.
func (o *ordered) assumed() []Lit {
	all := o.given[:len(o.given):len(o.given)]
	for _, d := range o.s.log[o.base:][:o.settled] {
		all = append(all, d.pick.Yes())
	}
	return all
}

// floor returns the level of what is assumed.
func (o *ordered) floor() int32 {
	if len(o.given)+o.settled > 0 {
		return 1
	}
	return 0
}

// choose makes the next choice, unless the poll is over. It reports false if
// none is left.
//
// A demand that comes up again because its pick was undone is not scanned from
// the beginning: no pick meets it, and what was impossible with the earlier
// picks still is.
func (o *ordered) choose() bool {
	s := o.s
	if !o.again {
		o.rank = 0
		if !s.seek(&o.c.poll) {
			return o.c.poll.ended
		}
	}
	o.again = false
	con := s.queue[s.head]
	cands := s.candidates(con)
	skip := s.passed[con]
	for rank := max(o.rank, skip); ; rank = skip {
		left := len(o.c.trail)
		for i := rank; i < len(cands); i++ {
			if o.c.poll.spend(1) {
				o.rank, o.again = rank, true
				return true
			}
			switch v := o.c.value(cands[i]); {
			case v < 0 && i == skip && o.c.vars[cands[i]].level == 0:
				skip++
			case v < 0 || v == 0 && o.c.full(cands[i]):
			default:
				o.pass(con, skip)
				if len(o.c.trail) > left {
					o.again = true
				} else {
					o.take(con, cands[i], i)
				}
				return true
			}
		}
		switch {
		case len(o.c.trail) > left: // there is something to propagate first
			o.again = true
			return true
		case rank == skip:
			// Not reached: the demand is a clause, and would have clashed.
			return false
		}
		// A clause that made a candidate fail was discarded.
	}
}

// take picks the candidate of that rank for the demand at the head of the queue.
func (o *ordered) take(con int32, l Lit, rank int) {
	s := o.s
	m := mark{o.c.level(), s.head, len(s.queue), len(s.counted), rank}
	if o.probing {
		m.rank = o.rank
	}
	if o.c.value(l) == 0 {
		o.c.decide(l)
		m.level++
	}
	s.head++
	s.take(con, l.Var())
	o.marks = append(o.marks, m)
}

// pass records that the first n candidates of a demand can never be picked, so
// that they are not looked at each time it comes up.
func (o *ordered) pass(con int32, n int) {
	if n < o.s.passed[con]+32 {
		return
	}
	if o.s.passed == nil {
		o.s.passed = make(map[int32]int)
	}
	o.s.passed[con] = n
}

// retreat undoes the picks of levels that the search has left, except for the
// first keep.
func (o *ordered) retreat(keep int) {
	level := max(o.c.level(), o.floor())
	n := len(o.marks)
	for n > keep && o.marks[n-1].level > level {
		n--
	}
	o.undo(n)
}

// undo undoes all picks except for the first n, or fewer if the poll is over.
func (o *ordered) undo(n int) {
	for i := len(o.marks) - 1; i >= n; i-- {
		if o.c.poll.over() {
			n = i + 1
			break
		}
		m := o.marks[i]
		o.s.untake(m.head, m.queue, m.counted)
		o.again, o.rank = true, m.rank
	}
	o.marks = o.marks[:n]
}

// settle finds the first pick that is impossible with the earlier ones, and
// undoes that and all later ones. The first time it finds out whether there is
// any selection, and undoes all picks.
func (o *ordered) settle() verdict {
	o.clashes, o.patience = 0, min(2*o.patience, patienceMax)
	n := len(o.marks) - o.settled
	if !o.asked {
		n, o.asked = 0, true
	}
	for {
		v, clash := o.probe(n)
		switch v {
		case unknown:
			return unknown
		case sat:
			o.keep()
			o.c.back(0)
			o.undo(o.settled + n)
			o.settled += n
			return sat
		}
		for n--; n >= 0; n-- {
			if slices.Contains(clash, o.s.log[o.base+o.settled+n].pick.No()) {
				break
			}
		}
		o.c.record(clash)
		if n < 0 {
			return unsat
		}
		o.undo(o.settled + n)
	}
}

// keep stores the selection that a probe found.
func (o *ordered) keep() {
	o.model = newBitset(len(o.s.picked))
	for _, d := range o.s.log[o.base:] {
		o.model.put(d.pick)
	}
}
