package solver

import (
	"context"
	"slices"
)

// A search solves the parts of a problem in which greedy met a dead end.
type search struct {
	p     *Problem
	index *occurrences
	parts []part
	of    []int32 // by variable: 1 + its part, or 0
	// guess is the propagator. Parts do not speak of the same variables, so they
	// can share one.
	guess *propagator
	// draw prepares the propagator for a part. It reports whether there was no
	// contradiction.
	draw func(part int) bool
	// open encodes a part.
	open func(ctx context.Context, part int) (*encoding, error)
	// memories is what is remembered of each part, or nil.
	memories []*memory
	// given are constraints of one variable each that are not encoded.
	given []int32
}

// number sets of.
func (s *search) number() {
	s.of = make([]int32, s.p.vars+1)
	for i, q := range s.parts {
		for _, v := range q.vars {
			s.of[v] = int32(i + 1)
		}
	}
}

// solve finishes what the greedy walk began.
func (s *search) solve(ctx context.Context, w *walk, dead []int32) (*Solution, error) {
	if ctx.Err() != nil { // the parts may not be whole
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	hunts := s.hunts(ctx, s.unsettled(dead))
	if ctx.Err() != nil { // nor what is drawn
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	var bad []int32
	for i, h := range hunts {
		if h == nil || h.through(ctx) {
			continue
		}
		v, err := unsat, error(nil)
		if !h.hopeless {
			v, err = h.solve(ctx, nil)
		}
		if v == unknown {
			return nil, &IncompleteError{Err: err}
		}
		if v == unsat {
			bad = append(bad, int32(i+1))
		}
	}
	if bad != nil {
		return nil, s.unsat(ctx, bad)
	}
	return s.optimize(ctx, w.picked, hunts)
}

// unsettled tells which parts have a dead end.
func (s *search) unsettled(dead []int32) []bool {
	found := make([]bool, len(s.parts))
	for _, con := range dead {
		if lits := s.p.litsOf(&s.p.cons[con]); len(lits) > 0 {
			found[s.of[lits[0].Var()]-1] = true
			continue
		}
		for i, q := range s.parts { // an empty clause is a part of its own
			found[i] = found[i] || len(q.vars) == 0 && q.cons[0] == con
		}
	}
	return found
}

// hunts begins the hunt in every part that is unsettled, and queues its first
// demands.
func (s *search) hunts(ctx context.Context, unsettled []bool) []*hunt {
	all := make([]*hunt, len(s.parts)) // nil where greedy did
	shared := newWalk(s.p, s.index)
	for i := range all {
		if !unsettled[i] {
			continue
		}
		all[i] = &hunt{
			walk:  &walk{p: s.p, index: s.index, picked: shared.picked, left: shared.left},
			guess: s.guess,
			open:  func(ctx context.Context) (*encoding, error) { return s.open(ctx, i) },
		}
		if s.memories != nil {
			all[i].memory = s.memories[i]
		}
		if len(s.parts[i].vars) == 0 {
			all[i].walk.queue = s.parts[i].cons // an empty clause
		}
	}
	hunt := func(con int) *hunt {
		lits := s.p.litsOf(&s.p.cons[con])
		if len(lits) == 0 || s.of[lits[0].Var()] == 0 {
			return nil
		}
		return all[s.of[lits[0].Var()]-1]
	}
	for i := range s.p.cons {
		if shared.left[i] > 0 || s.p.cons[i].kind == Limitation {
			continue
		}
		if h := hunt(i); h != nil {
			h.walk.queue = append(h.walk.queue, int32(i))
		}
	}
	for _, con := range s.given {
		if h := hunt(int(con)); h != nil {
			h.given = append(h.given, s.p.litsOf(&s.p.cons[con])[0])
		}
	}
	for i, h := range all {
		if h != nil && ctx.Err() == nil {
			h.hopeless = !s.draw(i) || !s.guess.all(h.given)
		}
	}
	return all
}

// unsat makes the error from the bad parts, which may be larger than what the
// requirements reach.
func (s *search) unsat(ctx context.Context, bad []int32) error {
	var own []part
	for _, q := range parts(ctx, s.p, s.index) {
		if len(q.vars) == 0 || slices.Contains(bad, s.of[q.vars[0]]) {
			own = append(own, q)
		}
	}
	if ctx.Err() != nil {
		return &IncompleteError{Err: ctx.Err()}
	}
	return newUnsatError(s.p, own)
}

// promptMax is up to how many literals a selection is still put together and
// checked after the end of the context: what takes a few milliseconds.
const promptMax = 1 << 19

// optimize makes the choices of each part in turn.
func (s *search) optimize(ctx context.Context, picked []bool, hunts []*hunt) (*Solution, error) {
	stopped := false
	unproven := make(map[int32]bool) // by demand
	for i, h := range hunts {
		if h == nil {
			continue
		}
		if !h.done && (stopped || !h.run(ctx)) {
			stopped = true
			h.settle()
		}
		for _, d := range h.walk.log[h.proven:] {
			unproven[d.con] = true
		}
		for _, v := range s.parts[i].vars {
			picked[v] = h.walk.picked[v]
		}
	}
	if stopped && len(s.p.lits) > promptMax {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	w := newWalk(s.p, s.index)
	w.begin()
	w.replay(func(v Var) bool { return picked[v] })
	if !stopped {
		return answer(ctx, s.p, w)
	}
	sol, err := answer(context.WithoutCancel(ctx), s.p, w)
	if err != nil {
		return nil, err
	}
	proven := 0
	for proven < len(w.log) && !unproven[w.log[proven].con] {
		proven++
	}
	return nil, &IncompleteError{Best: sol, Choices: len(w.log), Proven: proven, Err: ctx.Err()}
}
