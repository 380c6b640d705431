package solver

import "context"

// A cdcl searches by conflict-driven clause learning (Marques-Silva and
// Sakallah 1996), with two watched literals (Moskewicz et al. 2001), directly
// on the constraints of an index: limitations are counted, not encoded as
// clauses.
//
// What it learns follows from the constraints alone, never from assumptions,
// and is therefore kept from question to question. A constraint that a question
// may drop has a guard: a variable of the cdcl's own that is assumed if the
// constraint is in force.
type cdcl struct {
	x     *index
	vals  []int8     // by side of a literal: 1 holds, -1 fails, 0 open
	vars  []assigned // by variable
	trail []Lit      // the literals that hold, in the order of assignment
	begin []int32    // by level, from 1: where it begins in the trail
	done  int        // how much of the trail was propagated through clauses
	told  int        // how much of the trail was propagated through limitations

	lits    []Lit // of the clauses, one after the other
	clauses []clause
	watches [][]watch // by side: clauses to visit when it fails
	room    []watch   // for watches to grow into
	limits  []limitation
	limited table[int32]  // by variable: the limitations that list it
	added   [][]int32     // the same, for limitations that were added later
	guarded map[Var]int32 // by the variable of a guard: the limitation that it guards
	lazy    bool          // there are lazy limitations
	stated  int32         // how many of the clauses are constraints: the learned ones come after them
	learned int           // how many learned clauses there are
	kept    int           // how many more there may be than at first, see reduce

	rounds, countAt int // of probes, see countFrom

	cone *cone // what can be selected, or nil if that is not known

	dead  bool   // refuted under any assumptions
	clash reason // what refutes it, on level 0
	poll  poll

	analysis
	order varHeap
	proof *proofLog // nil unless a proof is requested
}

// assigned describes how a variable got its value.
type assigned struct {
	level  int32
	reason reason
	at     int32 // its place in the trail
}

// A reason is what forced an assignment, or what clashes: a clause by its
// position, or a limitation.
type reason int32

const free reason = -1 // nothing forced it

func (r reason) limit() (i int32, ok bool) { return -2 - int32(r), r < free }

func limitReason(i int32) reason { return reason(-2 - i) }

// A clause is a range of the literals.
type clause struct {
	start, end int32
	from       int32 // the constraint, or -1 minus the lemma of the proof
	next       int32 // where a literal to watch was last found, from 2; less if none was
	lbd        int32 // for a learned clause, how many levels it spans; otherwise 0
}

// A watch is a clause and one of its other literals: while that holds, there is
// nothing to do.
type watch struct {
	blocker Lit
	clause  int32 // its position or, for a clause of two literals, -1 minus that
}

// side returns the index of a literal in a list that has two entries for each
// variable v: 2v, and 2v-1 for its denial. It is branch-free.
func side(l Lit) int { return int(l<<1 ^ l>>31) }

// newCDCL returns a cdcl for the constraints with the given IDs. Those for
// which guard returns a variable are in force only while that is assumed. If
// ctx ends, the cdcl is unusable.
func newCDCL(ctx context.Context, x *index, cons []int32, guards int, guard func(con int32) Var) *cdcl {
	n := x.size + guards
	c := &cdcl{x: x, poll: poll{ctx: ctx}, countAt: countFrom}
	c.vals, c.vars, c.seen = list[int8](&c.poll, 2*n), list[assigned](&c.poll, n), list[bool](&c.poll, n)
	c.watches, c.trail = list[[]watch](&c.poll, 2*n), make([]Lit, 0, min(n, pollSteps))
	var units []Lit
	var from []int32
	watched := list[int32](&c.poll, 2*n) // by side: how many watches there are, to make room for all at once
	room := 0
	for _, id := range cons {
		if c.poll.spend(1) {
			return c
		}
		if k := &x.cons[id]; k.role != limit {
			room += int(k.end-k.lits) + 2
		}
	}
	c.clauses = list[clause](&c.poll, len(cons)+len(cons)/8)[:0] // with room for what is learned
	c.lits = list[Lit](&c.poll, room+room/8)[:0]
	total, members := 0, 0
	for _, id := range cons {
		if c.poll.spend(4 + int(x.cons[id].end-x.cons[id].lits)) {
			return c
		}
		g := Var(0)
		if guard != nil {
			g = guard(id)
		}
		k := &x.cons[id]
		switch {
		case k.role == idle:
		case k.role == limit:
			vars := x.candidates(k)
			lazy := len(vars) >= lazyFrom && k.n > 0
			c.limits = append(c.limits, limitation{vars: vars, n: k.n, con: id, guard: g.Yes(), lazy: lazy})
			c.lazy = c.lazy || lazy
			members += len(vars)
		default:
			c.state(k, id, g, watched)
			own := &c.clauses[len(c.clauses)-1]
			switch lits := c.lits[own.start:own.end]; len(lits) {
			case 0:
				c.fail(reason(len(c.clauses) - 1))
			case 1:
				units, from = append(units, lits[0]), append(from, int32(len(c.clauses)-1))
			default:
				watched[side(lits[0])]++
				watched[side(lits[1])]++
				total += 2
			}
		}
	}
	c.stated = int32(len(c.clauses))
	if c.watch(watched, total); !c.poll.ended {
		c.count(n, members)
	}
	if c.poll.ended {
		return c
	}
	for i, l := range units {
		if c.poll.spend(4); !c.assert(l, reason(from[i])) {
			c.fail(reason(from[i]))
			return c
		}
	}
	if r := c.propagate(); r != free {
		c.fail(r)
	}
	return c
}

// state stores a constraint as a clause.
func (c *cdcl) state(k *indexed, id int32, guard Var, watched []int32) {
	start := int32(len(c.lits))
	if k.head != 0 {
		c.lits = append(c.lits, k.head.No())
	}
	c.lits = append(c.lits, c.x.lits[k.lits:k.end]...)
	if guard != 0 {
		c.lits = append(c.lits, guard.No())
	}
	c.clauses = append(c.clauses, clause{start: start, end: int32(len(c.lits)), from: id})
}

// watch builds the watch lists.
func (c *cdcl) watch(watched []int32, total int) {
	room := list[watch](&c.poll, total)
	for s, n := range watched {
		if c.poll.spend(1) {
			return
		}
		c.watches[s], room = room[:0:n], room[n:]
	}
	for i := range c.clauses {
		if c.poll.over() {
			return
		}
		c.attach(int32(i))
	}
}

// attach watches the first two literals of a clause.
func (c *cdcl) attach(i int32) {
	own := &c.clauses[i]
	lits := c.lits[own.start:own.end]
	if len(lits) < 2 {
		return
	}
	ref := i
	if len(lits) == 2 {
		ref = -1 - i
	}
	c.addWatch(side(lits[0]), watch{lits[1], ref})
	c.addWatch(side(lits[1]), watch{lits[0], ref})
}

func (c *cdcl) value(l Lit) int8 { return c.vals[side(l)] }

func (c *cdcl) level() int32 { return int32(len(c.begin)) }

// decide begins a new level by assigning l.
func (c *cdcl) decide(l Lit) {
	c.begin = append(c.begin, int32(len(c.trail)))
	c.put(l, free)
}

func (c *cdcl) put(l Lit, r reason) {
	c.vals[side(l)], c.vals[side(-l)] = 1, -1
	c.vars[l.Var()] = assigned{level: c.level(), reason: r, at: int32(len(c.trail))}
	c.trail = append(c.trail, l)
}

// assert makes l true. It reports false if l already fails.
func (c *cdcl) assert(l Lit, r reason) bool {
	if v := c.value(l); v != 0 {
		return v > 0
	}
	c.put(l, r)
	return true
}

// back undoes all levels above the given one, or fewer if the poll is over;
// calling it again continues.
func (c *cdcl) back(level int32) {
	if c.level() <= level {
		return
	}
	end := int(c.begin[level])
	for i := len(c.trail) - 1; i >= end; i-- {
		if c.poll.spend(1) {
			end = i + 1
			break
		}
		l := c.trail[i]
		c.vals[side(l)], c.vals[side(-l)] = 0, 0
		if l > 0 && i < c.told {
			for _, at := range c.limitsOf(l) {
				c.limits[at].now--
			}
			for _, at := range c.addedOf(l) {
				c.limits[at].now--
			}
		}
		c.order.undone(l)
	}
	c.trail = c.trail[:end]
	for c.level() > level && int(c.begin[c.level()-1]) >= end {
		c.begin = c.begin[:c.level()-1]
	}
	c.done, c.told = min(c.done, end), min(c.told, end)
}

// propagate assigns what follows, through clauses first, because a limitation
// of many variables is the most expensive to propagate. It returns what
// clashes, or free.
func (c *cdcl) propagate() reason {
	for !c.poll.ended {
		for c.done < len(c.trail) {
			l := c.trail[c.done]
			c.poll.spend(1 + len(c.watches[side(-l)])%watchesAtOnce)
			r := c.visit(-l)
			if c.poll.ended {
				return free // the remaining watches are still to be visited
			}
			if c.done++; r != free {
				return r
			}
		}
		if c.told == len(c.trail) {
			return free
		}
		l := c.trail[c.told]
		c.told++
		c.poll.spend(1)
		if r := c.tell(l); r != free {
			return r
		}
	}
	return free
}

// aside returns the cone outside which nothing needs to be propagated: none on level 0,
// since what is found there also holds for other questions.
func (c *cdcl) aside() *cone {
	if c.level() == 0 {
		return nil
	}
	return c.cone
}

// watchesAtOnce is how many watches are visited between two checks of the poll.
const watchesAtOnce = 256

// visit propagates through the clauses that watch l, which has failed. It skips
// clauses that deny what cannot be selected anyway, because they hold.
func (c *cdcl) visit(l Lit) reason {
	s := side(l)
	watching := c.watches[s]
	aside := c.aside()
	kept := 0
	for i := 0; i < len(watching); i++ {
		if i%watchesAtOnce == watchesAtOnce-1 && c.poll.spend(watchesAtOnce) {
			kept += copy(watching[kept:], watching[i:])
			break
		}
		w := watching[i]
		val := c.value(w.blocker)
		if val > 0 || val == 0 && aside != nil && aside.lacks(w.blocker) {
			watching[kept] = w
			kept++
			continue
		}
		if w.clause < 0 {
			watching[kept] = w
			kept++
			if val < 0 {
				kept += copy(watching[kept:], watching[i+1:])
				c.watches[s] = watching[:kept]
				return reason(-1 - w.clause)
			}
			c.put(w.blocker, reason(-1-w.clause))
			continue
		}
		own := &c.clauses[w.clause]
		lits := c.lits[own.start:own.end]
		if lits[0] == l {
			lits[0], lits[1] = lits[1], lits[0]
		}
		first := lits[0]
		val = c.value(first)
		if val <= 0 && c.rewatch(own, lits, w.clause) {
			continue
		}
		watching[kept] = watch{first, w.clause}
		kept++
		switch {
		case val < 0:
			kept += copy(watching[kept:], watching[i+1:])
			c.watches[s] = watching[:kept]
			return reason(w.clause)
		case val == 0:
			c.put(first, reason(w.clause))
		}
	}
	if kept < len(watching) {
		c.watches[s] = watching[:kept]
	}
	return free
}

// rewatch finds another literal to watch in place of the second. It continues
// from where it stopped the last time (Gent 2013); otherwise long clauses would
// be scanned from the beginning again and again.
func (c *cdcl) rewatch(own *clause, lits []Lit, i int32) bool {
	k := max(1, int(own.next))
	for n := range len(lits) - 2 {
		if k++; k >= len(lits) {
			k = 2
		}
		if l := lits[k]; c.value(l) >= 0 {
			c.poll.spend(n >> 2)
			lits[1], lits[k] = l, lits[1]
			c.addWatch(side(l), watch{lits[0], i})
			own.next = int32(k)
			return true
		}
	}
	c.poll.spend(len(lits) >> 2)
	return false
}

// addWatch adds a watch to a list. Lists grow into room that they share,
// because there are many of them and most stay short.
func (c *cdcl) addWatch(s int, w watch) {
	all := c.watches[s]
	if n := len(all); n == cap(all) {
		size := max(4, 2*n)
		if len(c.room) < size {
			c.room = make([]watch, max(size, min(len(c.watches)/4, 2048)))
		}
		all, c.room = append(c.room[:0:size], all...), c.room[size:]
	}
	c.watches[s] = append(all, w)
}

// addVar creates a variable of the cdcl's own.
func (c *cdcl) addVar() Var {
	v := Var(len(c.vars))
	c.vals = append(c.vals, 0, 0)
	c.vars = append(c.vars, assigned{})
	if len(c.watches) == cap(c.watches) {
		c.poll.spend(pollSteps) // all of them are copied
	}
	c.watches = append(c.watches, nil, nil)
	c.seen = append(c.seen, false)
	if c.added != nil {
		c.added = append(c.added, nil)
	}
	c.order.grow(len(c.vars))
	return v
}
