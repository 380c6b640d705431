package solver

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// A WhatIf is a change to a problem that is only supposed. The zero value, like
// nil, changes nothing.
type WhatIf struct {
	// Drop are the IDs of constraints to do without.
	Drop []int
	// Require are variables to require, after the demands of the problem.
	Require []Var
	// Forbid are variables to forbid.
	Forbid []Var
}

// A change is a WhatIf as it is worked with: well formed, and no longer the
// caller's. Nil is no change.
type change struct {
	drop            []int32 // ascending, each once
	require, forbid []Var
}

// changeOf returns the change that w supposes of p; the error is *ProblemError.
func (p *Problem) changeOf(w *WhatIf) (*change, error) {
	if w == nil || len(w.Drop)+len(w.Require)+len(w.Forbid) == 0 {
		return nil, nil
	}
	c := &change{require: slices.Clone(w.Require), forbid: slices.Clone(w.Forbid)}
	var flaws []Flaw
	for _, id := range w.Drop {
		if id < 0 || id >= len(p.cons) {
			flaws = append(flaws, Flaw{Constraint: id, What: "dropped, but there is no such constraint"})
			continue
		}
		c.drop = append(c.drop, int32(id))
	}
	slices.Sort(c.drop)
	c.drop = slices.Compact(c.drop)
	for i, v := range slices.Concat(c.require, c.forbid) {
		if !p.has(v) {
			flaws = append(flaws, Flaw{Constraint: len(p.cons) + i, What: fmt.Sprintf("variable %d is not one of the problem's %d", v, p.vars)})
		}
	}
	if flaws != nil {
		return nil, &ProblemError{Flaws: flaws}
	}
	return c, nil
}

// drops reports whether the constraint is dropped.
func (c *change) drops(id int32) bool {
	if c == nil || len(c.drop) == 0 {
		return false
	}
	_, in := slices.BinarySearch(c.drop, id)
	return in
}

// with returns p with the change made. IDs stay: what is dropped is replaced by
// a constraint that says nothing, what is added comes last.
func (p *Problem) with(w *change) *Problem {
	q := &Problem{vars: p.vars, lits: slices.Clip(p.lits), whys: slices.Clip(p.whys), sets: slices.Clip(p.sets), flaws: slices.Clip(p.flaws)}
	p.names.copyTo(&q.names)
	more := 0
	if w != nil {
		more = len(w.require) + len(w.forbid)
	}
	q.cons = append(make([]con, 0, len(p.cons)+more), p.cons...)
	if w == nil {
		return q
	}
	for _, id := range w.drop {
		q.cons[id] = con{start: q.cons[id].start, end: q.cons[id].start, n: math.MaxInt32, kind: Limitation}
	}
	for _, v := range w.require {
		q.Require(v, supposed("is supposed to be required"))
	}
	for _, v := range w.forbid {
		q.Forbid(v, supposed("is supposed not to be allowed"))
	}
	return q
}

// dropped reports whether with dropped the constraint, which was not empty.
func (p *Problem) dropped(con int32) bool {
	c := &p.cons[con]
	return c.start == c.end
}

// supposed is the reason of a constraint that a WhatIf adds. Nothing can be done
// about it.
type supposed string

func (s supposed) String() string        { return "it " + string(s) }
func (s supposed) Predicate() string     { return string(s) }
func (s supposed) Advice() (string, int) { return "", 0 }

// A Session solves one problem again and again under changing suppositions, and
// keeps what it learns. Its answers are those of [Solve] for the problem with
// the change made.
//
// A Session is not safe for concurrent use. Once its problem was added to, it
// answers with a [*ProblemError].
type Session struct {
	problem   *Problem
	opts      Options
	index     *occurrences
	main      *index
	parts     []part
	of        []int32        // by variable: 1 + its part
	lits      []elit         // shared by the encodings of the parts
	memories  []*memory      // by part
	droppable map[int32]bool // constraints that were dropped at some time
	guess     *propagator    // of all constraints but dropped
	root      int            // the propagator's mark before anything is supposed
	bad       []bool         // by part: the propagator refuted it then
	dropped   []int32        // ascending
}

// NewSession returns a session for p. The bounds of opts are those of each
// solve. The error is [*ProblemError] when p is malformed.
func NewSession(p *Problem, opts *Options) (*Session, error) {
	if err := p.malformed(); err != nil {
		return nil, err
	}
	s := &Session{problem: p, main: indexOf(context.Background(), p), index: newOccurrences(context.Background(), p), parts: wholeParts(context.Background(), p), lits: make([]elit, p.vars+1), droppable: make(map[int32]bool)}
	if opts != nil {
		s.opts = *opts
	}
	numbered := search{p: p, parts: s.parts}
	numbered.number()
	s.of = numbered.of
	s.memories = make([]*memory, len(s.parts))
	for i := range s.memories {
		s.memories[i] = &memory{}
	}
	return s, nil
}

// Solve returns the best selection that meets the constraints of the session's
// problem with the change made. It returns what [Solve] returns, with the same
// errors; a WhatIf that names what is not there is a [*ProblemError].
//
// Cost: what [Solve] costs, less what was learned: refusals that hold for the
// same reason need no search. The first time that a constraint other than a
// requirement or a prohibition is dropped, what was learned of its part is lost.
func (s *Session) Solve(ctx context.Context, w *WhatIf) (*Solution, error) {
	ctx, cancel := bounded(ctx, &s.opts)
	defer cancel()
	if ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	if n := len(s.index.denials); len(s.problem.cons) != n {
		return nil, &ProblemError{Flaws: []Flaw{{Constraint: n, What: "added after the session began: begin a new one"}}}
	}
	c, err := s.problem.changeOf(w)
	if err != nil {
		return nil, err
	}
	sol, dead, err := straight(ctx, s.problem, s.main, c)
	if !dead {
		return sol, err
	}
	q := s.problem.with(c)
	x := s.index.extended(q)
	walk := newWalk(q, x)
	walk.begin()
	deadEnds := walk.greedy(ctx)
	if ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	dropped := s.enableDrops(w)
	b := &budget{limit: s.opts.MaxConflicts}
	hunt := &search{p: q, index: x, parts: s.parts, of: s.of, memories: s.memories, given: unary(q)}
	hunt.open = func(ctx context.Context, i int) (*encoding, error) { return s.open(ctx, i, b) }
	hunt.guess = s.propagator(ctx, q, dropped)
	if ctx.Err() != nil {
		s.guess = nil // it may not be whole
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	hunt.draw = func(i int) bool { return !s.bad[i] && s.memories[i].recall(q, s.guess, true) }
	return hunt.solve(ctx, walk, deadEnds)
}

// unary returns the requirements and prohibitions of q.
func unary(q *Problem) []int32 {
	var cons []int32
	for i := range q.cons {
		if kind := q.cons[i].kind; kind == Requirement || kind == Prohibition {
			cons = append(cons, int32(i))
		}
	}
	return cons
}

// enableDrops makes sure that what is dropped has a switch, and returns it,
// ascending.
func (s *Session) enableDrops(w *WhatIf) []int32 {
	var dropped []int32
	if w == nil {
		return nil
	}
	for _, id := range w.Drop {
		c := &s.problem.cons[id]
		if c.kind == Requirement || c.kind == Prohibition {
			continue
		}
		dropped = append(dropped, int32(id))
		if !s.droppable[int32(id)] && c.start < c.end {
			s.droppable[int32(id)] = true
			*s.memories[s.of[s.problem.litsOf(c)[0].Var()]-1] = memory{}
		}
	}
	slices.Sort(dropped)
	return slices.Compact(dropped)
}

// propagator returns the session's propagator, with nothing supposed yet. It is
// made anew where other constraints are dropped than the last time.
func (s *Session) propagator(ctx context.Context, q *Problem, dropped []int32) *propagator {
	if s.guess != nil && slices.Equal(dropped, s.dropped) {
		s.guess.undo(s.root)
		return s.guess
	}
	s.guess, s.dropped = newPropagator(q), dropped
	s.bad = make([]bool, len(s.parts))
	for i := range s.parts {
		s.bad[i] = !s.guess.add(ctx, q, s.parts[i].cons) || !s.memories[i].recall(q, s.guess, false)
	}
	s.root = s.guess.mark()
	return s.guess
}

// open returns the encoding of a part.
func (s *Session) open(ctx context.Context, i int, b *budget) (*encoding, error) {
	m := s.memories[i]
	if m.encoding == nil || m.broken {
		if err := s.encode(ctx, &s.parts[i], m); err != nil {
			return nil, err
		}
	}
	m.engine.charge(b)
	return m.encoding, nil
}

// encode encodes a part, with switches for what may be dropped.
func (s *Session) encode(ctx context.Context, q *part, m *memory) error {
	e, err := newEncoding(ctx, s.problem, q, s.lits, len(s.droppable), &budget{})
	if err != nil {
		return err
	}
	var switches []toggle
	for _, id := range q.cons {
		if s.droppable[id] {
			switches = append(switches, toggle{con: id, lit: e.engine.fresh()})
		}
	}
	next := 0
	for _, id := range q.cons {
		e.guard = 0
		if s.droppable[id] {
			e.guard = switches[next].lit
			next++
		}
		e.constraint(&s.problem.cons[id])
	}
	if err := e.err(); err != nil {
		return err
	}
	e.guard, e.poll = 0, poll{ctx: context.Background()}
	m.encoding, m.switches, m.broken = e, switches, false
	return nil
}

// A memory is what a session knows of a part.
type memory struct {
	*encoding          // nil until there is need
	switches  []toggle // by constraint, ascending
	lemmas    []lemma  // the latest last
	models    [][]bool // by engine variable; the latest last; none where there are switches
	broken    bool     // the engine was stopped
}

// A toggle is the switch of a constraint.
type toggle struct {
	con int32
	lit elit
}

// How much a memory keeps.
const (
	lemmasMax = 1000
	modelsMax = 16
)

// model returns a model that was found before in which the literals are true, or
// nil.
func (m *memory) model(lits []elit) []bool {
	for i := len(m.models) - 1; i >= 0; i-- {
		model := m.models[i]
		if !slices.ContainsFunc(lits, func(l elit) bool { return l < 0 && model[-l] || l > 0 && !model[l] }) {
			return model
		}
	}
	return nil
}

// keep keeps a model. With switches it says too little to be of use again.
func (m *memory) keep(model []bool) {
	if len(m.switches) > 0 {
		return
	}
	if len(m.models) == modelsMax {
		m.models = slices.Delete(m.models, 0, 1)
	}
	m.models = append(m.models, model)
}

func (m *memory) learn(l lemma) {
	if len(m.lemmas) == lemmasMax {
		m.lemmas = append(m.lemmas[:0], m.lemmas[lemmasMax/2:]...)
	}
	m.lemmas = append(m.lemmas, l)
}

// recall tells the propagator the lemmas that hold for q: those of several
// literals, which it keeps, or those of one, which are to be told each time. It
// reports whether there was no contradiction.
func (m *memory) recall(q *Problem, guess *propagator, single bool) bool {
	for _, l := range m.lemmas {
		if single != (len(l.lits) <= 1) || slices.ContainsFunc(l.from, func(con int32) bool { return q.dropped(con) }) {
			continue
		}
		if single && !guess.all(l.lits) || !single && !guess.clause(l.lits) || len(l.lits) == 0 {
			return false
		}
	}
	return true
}

// on returns the switches of the constraints that q does not drop.
func (m *memory) on(q *Problem) []elit {
	var on []elit
	for _, t := range m.switches {
		if !q.dropped(t.con) {
			on = append(on, t.lit)
		}
	}
	return on
}

// constraint returns the constraint that has that switch.
func (m *memory) constraint(l elit) int32 {
	for _, t := range m.switches {
		if t.lit == l {
			return t.con
		}
	}
	return -1 // there is no such switch
}
