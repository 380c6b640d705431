package solver

import (
	"context"
	"slices"
)

// A walk follows the documented order of choices. It starts with the demands
// that nothing triggers, in the order of adding, and each pick appends the
// demands that it completes.
type walk struct {
	p      *Problem
	index  *occurrences
	picked []bool  // by variable
	banned []bool  // by variable: denied by a clause of one literal; only for greedy
	left   []int32 // by constraint: denials not yet picked; of a Limitation: variables picked
	queue  []int32 // demands, by constraint
	head   int
	log    []oldDecision
}

type oldDecision struct {
	con    int32 // the demand
	rank   int32 // the position of the pick among the demand's candidates
	pick   Var
	head   int32 // the demand's place in the queue
	queued int32 // how long the queue was
}

func newWalk(p *Problem, x *occurrences) *walk {
	return &walk{p: p, index: x, picked: make([]bool, p.vars+1), left: slices.Clone(x.denials)}
}

// begin queues the demands that nothing triggers.
func (w *walk) begin() {
	for i := range w.p.cons {
		if w.left[i] == 0 && w.p.cons[i].kind != Limitation {
			w.queue = append(w.queue, int32(i))
		}
	}
}

// next returns the next demand that no pick meets yet.
func (w *walk) next() (con int32, ok bool) {
	for w.head < len(w.queue) {
		con = w.queue[w.head]
		w.head++
		if !w.met(con) {
			return con, true
		}
	}
	return 0, false
}

func (w *walk) met(con int32) bool {
	for _, l := range w.p.litsOf(&w.p.cons[con]) {
		if l.Selects() && w.picked[l] {
			return true
		}
	}
	return false
}

// pick selects v for the demand.
func (w *walk) pick(con int32, rank int, v Var) {
	w.log = append(w.log, oldDecision{con: con, rank: int32(rank), pick: v, head: int32(w.head - 1), queued: int32(len(w.queue))})
	w.picked[v] = true
	for _, id := range w.index.of(v) {
		c := &w.p.cons[id]
		if c.kind == Limitation {
			w.left[id]++
			continue
		}
		w.left[id]--
		if w.left[id] == 0 && hasCandidate(w.p.litsOf(c)) {
			w.queue = append(w.queue, id)
		}
	}
}

// undo takes back all picks but the first n.
func (w *walk) undo(n int) {
	for i := len(w.log) - 1; i >= n; i-- {
		d := &w.log[i]
		w.picked[d.pick] = false
		for _, id := range w.index.of(d.pick) {
			if w.p.cons[id].kind == Limitation {
				w.left[id]--
			} else {
				w.left[id]++
			}
		}
		w.head, w.queue = int(d.head), w.queue[:d.queued]
	}
	w.log = w.log[:n]
}

func hasCandidate(lits []Lit) bool {
	for _, l := range lits {
		if l.Selects() {
			return true
		}
	}
	return false
}

// refuted reports whether what is picked already, and a single constraint, rule
// v out.
func (w *walk) refuted(v Var) bool {
	if w.banned[v] {
		return true
	}
	for _, id := range w.index.of(v) {
		c := &w.p.cons[id]
		if c.kind == Limitation {
			if w.left[id] >= c.n {
				return true
			}
			continue
		}
		if denied, only := w.denials(c, v); only && denied == w.left[id] {
			return true
		}
	}
	return false
}

// denials counts how often c denies v, and reports whether c is made of denials
// only.
func (w *walk) denials(c *con, v Var) (n int32, only bool) {
	for _, l := range w.p.litsOf(c) {
		if l.Selects() {
			return 0, false
		}
		if l == v.No() {
			n++
		}
	}
	return n, true
}

// greedy takes the first candidate of every demand that is not refuted. It
// returns the demands that had none left.
//
// A candidate that is refuted is impossible together with the picks before it.
// So where greedy ends without a dead end, and what it picked meets all
// constraints, the picks are the best answer there is: they are an answer
// themselves, and nothing better was passed over.
//
// When ctx ends it returns early.
func (w *walk) greedy(ctx context.Context) (dead []int32) {
	poll := poll{ctx: ctx}
	w.banned = make([]bool, len(w.picked))
	for i := range w.p.cons {
		if c := &w.p.cons[i]; c.end-c.start == 1 && w.left[i] == 1 {
			w.banned[w.p.lits[c.start].Var()] = true
		}
	}
	for con, ok := w.next(); ok && !poll.over(); con, ok = w.next() {
		rank, found := 0, false
		for _, l := range w.p.litsOf(&w.p.cons[con]) {
			if !l.Selects() {
				continue
			}
			if !w.refuted(l.Var()) {
				w.pick(con, rank, l.Var())
				found = true
				break
			}
			rank++
		}
		if !found {
			dead = append(dead, con)
		}
	}
	return dead
}

// replay takes, for every demand that is left, the first candidate that is in
// the answer.
func (w *walk) replay(in func(Var) bool) {
	for con, ok := w.next(); ok; con, ok = w.next() {
		rank := 0
		for _, l := range w.p.litsOf(&w.p.cons[con]) {
			if !l.Selects() {
				continue
			}
			if in(l.Var()) {
				w.pick(con, rank, l.Var())
				break
			}
			rank++
		}
	}
}
