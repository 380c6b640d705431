package solver

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// A WhatIf is a hypothetical change to a problem. The zero value, like nil, changes
// nothing.
type WhatIf struct {
	// Drop are the IDs of constraints to drop.
	Drop []int
	// Require are variables to require, after the demands of the problem.
	Require []Var
	// Forbid are variables to forbid.
	Forbid []Var
}

// A change is the internal form of a WhatIf: well formed, and independent of
// the caller's slices. Nil is no change.
type change struct {
	drop            []int32 // ascending, each once
	require, forbid []Var
}

// changeOf returns w as a change of the problem that x was made for. The error is
// *ProblemError.
func (x *index) changeOf(w *WhatIf) (*change, error) {
	if w == nil || len(w.Drop)+len(w.Require)+len(w.Forbid) == 0 {
		return nil, nil
	}
	c := &change{require: slices.Clone(w.Require), forbid: slices.Clone(w.Forbid)}
	var flaws []Flaw
	for _, id := range w.Drop {
		if id < 0 || id >= len(x.cons) {
			flaws = append(flaws, Flaw{Constraint: id, What: "dropped, but there is no such constraint"})
			continue
		}
		c.drop = append(c.drop, int32(id))
	}
	slices.Sort(c.drop)
	c.drop = slices.Compact(c.drop)
	for i, v := range slices.Concat(c.require, c.forbid) {
		what := ""
		switch {
		case !x.p.has(v):
			what = fmt.Sprintf("variable %d is not one of the problem's %d", v, x.p.vars)
		case int(v) >= x.size:
			what = fmt.Sprintf("variable %d (%s) was added after the session began: begin a new one", v, x.p.Name(v))
		default:
			continue
		}
		flaws = append(flaws, Flaw{Constraint: len(x.cons) + i, What: what})
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

// copied returns a copy of p with room for the given numbers of constraints,
// literals and reasons, or nil if the poll is over. Lists without room are
// copied by the first addition, without a check of the context.
func (p *Problem) copied(poll *poll, cons, lits, whys int) *Problem {
	q := &Problem{vars: p.vars, lits: slices.Clip(p.lits), whys: slices.Clip(p.whys), sets: slices.Clip(p.sets), flaws: slices.Clip(p.flaws)}
	p.names.copyTo(&q.names)
	q.cons = cloned(poll, p.cons, cons)
	if lits > 0 {
		q.lits = cloned(poll, p.lits, lits)
	}
	if whys > 0 {
		q.whys = cloned(poll, p.whys, len(p.cons)-len(p.whys)+whys)
	}
	if poll.ended {
		return nil
	}
	return q
}

// changed returns p with the change made, or nil if the poll is over. IDs are
// kept: a dropped constraint is replaced by one that demands nothing, and what
// is added comes last.
func (p *Problem) changed(poll *poll, w *change) *Problem {
	more := len(w.require) + len(w.forbid)
	q := p.copied(poll, more, more, more)
	if q == nil {
		return nil
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

// supposed is the reason for a constraint that a WhatIf adds. Nothing can be
// done about it.
type supposed string

func (s supposed) String() string        { return "it " + string(s) }
func (s supposed) Advice() (string, int) { return "", 0 }

// A Session solves one problem repeatedly under changing assumptions, and keeps
// what it learns. Its answers are those of [Solve] for the problem with the
// change made.
//
// A Session is not safe for concurrent use; a [Pool] is. After constraints were
// added to its problem, it answers with a [*ProblemError], and if variables were added,
// to questions that name one of them.
type Session struct {
	x    *index
	opts Options
	// The fields below are set at the first dead end.
	parts    []part
	of       []int32 // by variable: 1 + its part
	cdcl     *cdcl   // for all constraints except requirements
	required []int32 // the requirements
	guarded  []int32 // constraints that were dropped at some time and are not requirements
	guards   map[int32]Var
	cone     *cone
}

// NewSession returns a session for p. The bounds of opts apply to each solve.
// The error is [*ProblemError] if p is malformed.
func NewSession(p *Problem, opts *Options) (*Session, error) {
	if err := p.malformed(); err != nil {
		return nil, err
	}
	s := &Session{x: indexOf(context.Background(), p), guards: make(map[int32]Var)}
	if opts != nil {
		s.opts = *opts
	}
	return s, nil
}

// Solve returns the best selection that meets the constraints of the session's
// problem with the change made. It returns what [Solve] returns, with the same
// errors; a WhatIf that names something that does not exist is a
// [*ProblemError].
//
// Cost: proportional to what the selection reaches, whatever the size of the
// problem, if the first candidates work or a single constraint rules out those
// that do not. Otherwise what [Solve] costs, less what was learned. The first
// time that a constraint other than a requirement is dropped, what was learned
// is lost.
func (s *Session) Solve(ctx context.Context, w *WhatIf) (*Solution, error) {
	ctx, cancel := bounded(ctx, &s.opts)
	defer cancel()
	if ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	p := s.x.p
	if n := len(s.x.cons); len(p.cons) != n {
		return nil, &ProblemError{Flaws: []Flaw{{Constraint: n, What: "added after the session began: begin a new one"}}}
	}
	c, err := s.x.changeOf(w)
	if err != nil {
		return nil, err
	}
	greedy, sol, err := straight(ctx, s.x, c)
	if greedy == nil {
		return sol, err
	}
	defer greedy.done(c)
	budget, done := s.opts.budget()
	defer done()
	search := s.search(ctx, c, greedy.dead, budget)
	if search == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	sol, err = search.solve(ctx, greedy)
	if err == errUnsat {
		return nil, newUnsatError(p, c, search.isUnsettled)
	}
	return sol, err
}

// search prepares the search for an answer. It returns nil if ctx ended.
func (s *Session) search(ctx context.Context, w *change, dead []int32, b *budget) *search {
	if s.parts == nil {
		s.parts = wholeParts(ctx, s.x)
		if s.of = numbered(ctx, s.x, s.parts); ctx.Err() != nil {
			s.parts = nil
			return nil
		}
	}
	if w != nil {
		s.guard(w.drop)
	}
	if s.cdcl == nil {
		c := s.encode(ctx)
		if c.poll.ended {
			return nil
		}
		s.cdcl = c
	}
	if s.cone == nil {
		s.cone = newCone(s.x)
	}
	poll := poll{ctx: ctx}
	s.cone.fill(&poll, s.x, w)
	if s.cdcl.cone = s.cone; poll.ended {
		return nil
	}
	found := &search{x: s.x, w: w, parts: s.parts, of: s.of, cdcl: s.cdcl, budget: b}
	found.given = func(part int32) []Lit { return s.given(found, part) }
	found.find(dead)
	return found
}

// guard ensures that dropped constraints have a guard if they need one.
func (s *Session) guard(drop []int32) {
	for _, id := range drop {
		if k := &s.x.cons[id]; k.role == idle || s.x.p.cons[id].kind == Requirement || s.guards[id] != 0 {
			continue
		}
		s.guarded = append(s.guarded, id)
		s.guards[id] = Var(s.x.size - 1 + len(s.guarded))
		s.cdcl = nil
	}
}

// encode creates the cdcl.
func (s *Session) encode(ctx context.Context) *cdcl {
	poll := poll{ctx: ctx}
	cons := list[int32](&poll, len(s.x.cons))[:0]
	s.required = s.required[:0]
	for i := range s.x.cons {
		poll.over()
		if s.x.p.cons[i].kind == Requirement {
			s.required = append(s.required, int32(i))
		} else {
			cons = append(cons, int32(i))
		}
	}
	return newCDCL(ctx, s.x, cons, len(s.guarded), func(con int32) Var { return s.guards[con] })
}

// given returns what is assumed for a part: that its constraints are in force,
// what is required, and what is forbidden.
func (s *Session) given(q *search, part int32) []Lit {
	var all []Lit
	for _, id := range s.guarded {
		if !q.w.drops(id) && q.partOf(id) == part {
			all = append(all, s.guards[id].Yes())
		}
	}
	for _, id := range s.required {
		if s.cdcl.poll.over(); !q.w.drops(id) && q.partOf(id) == part {
			all = append(all, s.x.candidates(&s.x.cons[id])[0])
		}
	}
	if q.w == nil {
		return all
	}
	for _, v := range q.w.require {
		if s.of[v]-1 == part {
			all = append(all, v.Yes())
		}
	}
	for _, v := range q.w.forbid {
		if s.of[v]-1 == part {
			all = append(all, v.No())
		}
	}
	return all
}

// A Pool solves one problem under changing assumptions, like a [Session], and
// may be used by several goroutines at once: each gets a session of its own,
// which is reused.
type Pool struct {
	p    *Problem
	opts *Options
	idle spare[Session]
}

// NewPool returns a pool for p. Its options and errors are those of
// [NewSession].
func NewPool(p *Problem, opts *Options) (*Pool, error) {
	s, err := NewSession(p, opts)
	if err != nil {
		return nil, err
	}
	pool := &Pool{p: p, opts: &s.opts}
	pool.idle.put(s)
	return pool, nil
}

// Solve is like [Session.Solve].
func (p *Pool) Solve(ctx context.Context, w *WhatIf) (*Solution, error) {
	s := p.idle.take()
	if s == nil {
		var err error
		if s, err = NewSession(p.p, p.opts); err != nil {
			return nil, err
		}
	}
	defer p.idle.put(s)
	return s.Solve(ctx, w)
}
