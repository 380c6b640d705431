package solver

import (
	"context"
	"slices"
)

// An encoding is a part of a problem, encoded as clauses of a SAT engine.
type encoding struct {
	p      *Problem
	engine engine
	lits   []elit // by variable of the problem; 0 outside the part
	vars   []Var
	size   int // the engine's variables for vars are below it
	poll   poll
	guard  elit            // denied in every clause being added, or 0
	limits map[string]bool // the sets that already have an at-most-one
}

// encode adds the part to a new engine as hard clauses.
func encode(ctx context.Context, p *Problem, q *part, lits []elit, b *budget) (*encoding, error) {
	e, err := newEncoding(ctx, p, q, lits, 0, b)
	if err != nil {
		return nil, err
	}
	for _, id := range q.cons {
		e.constraint(&p.cons[id])
	}
	return e, e.err()
}

// newEncoding creates the variables of the part. lits may be shared by
// encodings of different parts; extra is how many more variables there will be.
func newEncoding(ctx context.Context, p *Problem, q *part, lits []elit, extra int, b *budget) (*encoding, error) {
	e := &encoding{p: p, vars: q.vars, lits: lits, poll: poll{ctx: ctx}}
	helpers, clauses := e.room(q)
	e.engine = newEngine(len(q.vars)+extra+helpers, clauses, b)
	for _, v := range q.vars {
		if e.poll.over() {
			return nil, ctx.Err()
		}
		e.lits[v] = e.engine.fresh()
		e.size = int(e.lits[v]) + 1
	}
	return e, nil
}

// err returns the error of the context if it ended while clauses were added.
// The encoding is unusable then.
func (e *encoding) err() error {
	if e.poll.ended {
		return e.poll.ctx.Err()
	}
	return nil
}

// of returns the engine's literal for a literal of the part.
func (e *encoding) of(l Lit) elit {
	if l < 0 {
		return -e.lits[-l]
	}
	return e.lits[l]
}

// room counts the variables that the limitations of the part will need, and the
// clauses of all its constraints.
func (e *encoding) room(q *part) (helpers, clauses int) {
	clauses = len(q.cons)
	for _, id := range q.cons {
		e.poll.spend(1)
		if c := &e.p.cons[id]; c.kind == Limitation {
			size, n := int(c.end-c.start), int(c.n)
			helpers += limitHelpers(size, n)
			clauses += limitClauses(size, n)
		}
	}
	return helpers, clauses
}

// add adds a clause, unless the context has ended.
func (e *encoding) add(lits ...elit) {
	if e.poll.spend(4 + len(lits)) {
		return
	}
	if e.guard != 0 {
		lits = append(lits, -e.guard)
	}
	e.engine.add(lits...)
}

func (e *encoding) constraint(c *con) {
	var lits []elit
	if e.poll.spend(int(c.end - c.start)) {
		return
	}
	for _, l := range e.p.litsOf(c) {
		if m := e.of(l); m != 0 { // a limitation may list variables that stay unselected
			lits = append(lits, m)
		}
	}
	if c.kind != Limitation {
		e.add(lits...)
		return
	}
	if int(c.n) >= len(lits) || e.shared(lits, int(c.n)) {
		return
	}
	e.atMost(int(c.n), lits)
}

// shared reports whether an at-most-one of the same set was encoded before.
func (e *encoding) shared(lits []elit, n int) bool {
	if e.guard != 0 || n != 1 {
		return false
	}
	set := slices.Sorted(slices.Values(lits))
	key := make([]byte, 0, 4*len(set))
	for _, l := range set {
		key = append(key, byte(l), byte(l>>8), byte(l>>16), byte(l>>24))
	}
	if e.limits == nil {
		e.limits = make(map[string]bool)
	}
	if e.limits[string(key)] {
		return true
	}
	e.limits[string(key)] = true
	return false
}
