package solver

import (
	"context"
	"slices"
)

// A hunt finds the best picks in one part of a problem, where greedy met a dead
// end.
//
// It goes on greedily, but with a propagator that refutes more, and believes
// its picks only once it is through: then they are an answer, and nothing better
// was passed over. At a dead end the SAT engine tells which of the picks since
// the last proof are to blame together, and that the picks before the last of
// those are possible. The latter are proven then, and the former are a lemma to
// the propagator, which refutes the culprit in its place.
type hunt struct {
	walk  *walk
	guess *propagator
	marks []int // by decision: the propagator's mark before it
	given []Lit // what holds besides the constraints that are encoded

	open      func(context.Context) (*encoding, error)
	*encoding        // nil until the engine is needed
	facts     []elit // assumed in every run of the engine
	// memory is what is kept for later hunts, or nil: then what is proven is
	// added to the engine for good. Otherwise it becomes facts.
	memory *memory

	hopeless bool // the propagator refuted it

	proven int    // how many decisions are
	done   bool   // all decisions are made, and proven
	model  []bool // by engine variable: a model with all proven picks
}

// through tries to do without the engine. Where that fails it takes everything
// back.
func (h *hunt) through(ctx context.Context) bool {
	start := h.guess.mark()
	if !h.hopeless && !h.advance(ctx) {
		h.proven = len(h.walk.log)
		h.done = true
		return true
	}
	h.guess.undo(start)
	h.walk.undo(0)
	h.marks = h.marks[:0]
	return false
}

// run makes the choices. It reports false when it was stopped.
func (h *hunt) run(ctx context.Context) bool {
	for h.advance(ctx) {
		if ctx.Err() != nil || h.blame(ctx) == unknown {
			return false
		}
	}
	h.proven = len(h.walk.log)
	h.done = true
	return true
}

// settle takes back the decisions that are not proven, and has the model make
// them.
func (h *hunt) settle() {
	h.walk.undo(h.proven)
	h.walk.replay(func(v Var) bool { return h.model[h.lits[v]] })
}

// advance picks greedily, and reports whether it met a dead end, or the end of
// the context.
func (h *hunt) advance(ctx context.Context) bool {
	w := h.walk
	poll := poll{ctx: ctx}
	for con, ok := w.next(); ok; con, ok = w.next() {
		if poll.over() || !h.pick(con) {
			return true
		}
	}
	return false
}

func (h *hunt) pick(con int32) bool {
	rank := -1
	for _, l := range h.walk.p.litsOf(&h.walk.p.cons[con]) {
		if !l.Selects() {
			continue
		}
		rank++
		if h.guess.holds(l) < 0 {
			continue
		}
		mark := h.guess.mark()
		if !h.guess.assert(l) {
			h.guess.undo(mark)
			continue
		}
		h.marks = append(h.marks, mark)
		h.walk.pick(con, rank, l.Var())
		return true
	}
	return false
}

// blame finds the first pick that is impossible with those before it, and takes
// back that and all later ones.
func (h *hunt) blame(ctx context.Context) verdict {
	var picks []elit // not proven
	for _, d := range h.walk.log[h.proven:] {
		picks = append(picks, h.lits[d.pick])
	}
	var lemmas [][]elit
	for !h.covers(picks) {
		v, _ := h.solve(ctx, picks)
		if v == unknown {
			return unknown
		}
		if v == sat {
			break
		}
		why := h.engine.failed()
		lemmas = append(lemmas, why)
		last := len(picks) - 1
		for last >= 0 && !slices.Contains(why, picks[last]) {
			last--
		}
		picks = picks[:max(last, 0)]
	}
	h.retreat(len(picks))
	h.learn(lemmas)
	return sat
}

// covers reports whether the model holds the picks.
func (h *hunt) covers(picks []elit) bool {
	return !slices.ContainsFunc(picks, func(l elit) bool { return !h.model[l] })
}

// retreat proves that many more decisions, and takes back the others.
func (h *hunt) retreat(n int) {
	for _, d := range h.walk.log[h.proven : h.proven+n] {
		if h.memory == nil {
			h.engine.add(h.lits[d.pick])
		} else {
			h.facts = append(h.facts, h.lits[d.pick])
		}
	}
	h.proven += n
	if h.proven < len(h.walk.log) {
		h.guess.undo(h.marks[h.proven])
	}
	h.marks = h.marks[:h.proven]
	h.walk.undo(h.proven)
}

func (h *hunt) learn(lemmas [][]elit) {
	for _, why := range lemmas {
		l := h.lemma(why)
		if h.memory != nil {
			h.memory.learn(l)
		}
		h.guess.clause(l.lits)
	}
}

// A lemma is a clause that follows from the constraints.
type lemma struct {
	lits []Lit
	from []int32 // the droppable constraints that it follows from
}

// lemma says that these cannot hold together.
func (h *hunt) lemma(why []elit) lemma {
	var m lemma
	for _, l := range why {
		switch v := h.varOf(l); {
		case v == 0:
			m.from = append(m.from, h.memory.constraint(l))
		case l > 0:
			m.lits = append(m.lits, v.No())
		default:
			m.lits = append(m.lits, v.Yes())
		}
	}
	return m
}

// solve runs the engine on the facts and the picks, and keeps the model. With
// unknown comes what stopped it, or nil where that was the budget.
func (h *hunt) solve(ctx context.Context, picks []elit) (verdict, error) {
	if h.encoding == nil {
		e, err := h.open(ctx)
		if err != nil {
			return unknown, err
		}
		h.encoding = e
		for _, l := range h.given {
			h.facts = append(h.facts, e.of(l))
		}
		if h.memory != nil {
			h.facts = append(h.facts, h.memory.on(h.walk.p)...)
		}
	}
	assumed := slices.Concat(h.facts, picks)
	if h.memory != nil {
		if model := h.memory.model(assumed); model != nil {
			h.model = model
			return sat, nil
		}
	}
	v := h.engine.solve(ctx, assumed...)
	switch {
	case v == sat:
		h.model = make([]bool, h.size)
		for l := elit(1); l < elit(h.size); l++ {
			h.model[l] = h.engine.value(l)
		}
		if h.memory != nil {
			h.memory.keep(h.model)
		}
	case v == unknown && h.memory != nil:
		h.memory.broken = true
	}
	return v, ctx.Err()
}
