package solver

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Certificate computes the proof that s is the best selection.
//
// Cost: a search of the parts in which a candidate was passed over, with all
// earlier picks fixed. The error is [*IncompleteError] if ctx ended first. The
// Best of an IncompleteError has a certificate only if it happens to be the best
// selection; otherwise the error names a candidate that was passed over but is
// possible. The Solution of an [Optimum] has none, because criteria come before
// the rule of [Solve]: use [Optimum.Certificate].
func (s *Solution) Certificate(ctx context.Context) (*Certificate, error) {
	if s.given != nil {
		return nil, errors.New("solver: the selection is the best one by criteria: use Optimum.Certificate")
	}
	p := s.problem(&poll{ctx: ctx})
	if p == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	x := indexOf(ctx, p)
	if x == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	f := &certifier{ctx: ctx, x: x, parts: parts(ctx, x), log: s.log}
	f.of = numbered(ctx, x, f.parts)
	if ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	cert, err := f.certify(s)
	if err != nil {
		return nil, err
	}
	cert.Lemmas, _ = trim(&f.cdcl.poll, f.cdcl.proof, nil, cert.Steps)
	if f.cdcl.poll.ended {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	return cert, nil
}

// A certifier replays the picks of a solution in a cdcl that logs what it
// derives, and finds out at each choice why the better candidates fail.
type certifier struct {
	ctx    context.Context
	x      *index
	parts  []part
	of     []int32 // by variable: 1 + its part
	log    []decision
	cdcl   *cdcl
	steps  map[Var]int // by pick: its step
	picks  []Lit       // the picks so far in the parts that the cdcl covers, after what is proven to hold
	placed int         // how many of picks have been decided

	asked  int32         // the part that was searched last
	roots  []int32       // its demands that nothing triggers
	passed map[int32]int // what searches found out about long demands
}

func (f *certifier) certify(s *Solution) (*Certificate, error) {
	cert := &Certificate{Steps: make([]CertifiedStep, len(f.log))}
	needed := make(map[int32]bool)
	ranks := make([]int, len(f.log))
	poll := poll{ctx: f.ctx}
	for i, d := range f.log {
		if poll.spend(64) {
			return nil, &IncompleteError{Err: f.ctx.Err()}
		}
		cert.Steps[i] = CertifiedStep{Demand: int(d.con), Pick: d.pick}
		cands := f.x.candidates(&f.x.cons[d.con])
		if ranks[i] = slices.Index(cands, d.pick.Yes()); ranks[i] > 0 {
			needed[f.of[d.pick]] = true
		}
	}
	if f.cdcl == nil {
		var cons []int32
		for i, q := range f.parts {
			if needed[int32(i+1)] {
				cons = append(cons, q.cons...)
			}
		}
		f.cdcl = newCDCL(f.ctx, f.x, cons, 0, nil)
		f.cdcl.proof = newProofLog()
	}
	f.steps = make(map[Var]int, len(f.log))
	for i, d := range f.log {
		if poll.spend(64) {
			return nil, &IncompleteError{Err: f.ctx.Err()}
		}
		if f.steps[d.pick] = i; !needed[f.of[d.pick]] {
			continue
		}
		if ranks[i] > 0 {
			cert.Steps[i].Refused = list[CertifiedRefusal](&poll, ranks[i])[:0]
		}
		for _, l := range f.x.candidates(&f.x.cons[d.con])[:ranks[i]] {
			r, err := f.refuse(l)
			if err != nil {
				return nil, err
			}
			cert.Steps[i].Refused = append(cert.Steps[i].Refused, r)
		}
		f.picks = append(f.picks, d.pick.Yes())
	}
	return cert, nil
}

// refuse returns the reason why a candidate is impossible with the picks so
// far.
func (f *certifier) refuse(l Lit) (CertifiedRefusal, error) {
	c := f.cdcl
	for tries := 0; ; tries++ {
		if err := f.place(); err != nil {
			return CertifiedRefusal{}, err
		}
		if c.value(l) < 0 {
			break
		}
		if tries > 0 {
			return CertifiedRefusal{}, fmt.Errorf("solver: the selection has no certificate: %s was passed over but is possible; only what a search to its end returns is proven", f.x.p.Name(l.Var()))
		}
		v := f.search(slices.Concat(f.picks, []Lit{l}))
		if v == unknown {
			return CertifiedRefusal{}, &IncompleteError{Err: f.ctx.Err()}
		}
	}
	clause := c.blame(free, l)
	r := CertifiedRefusal{Var: l.Var(), Hints: c.proof.hints(c)}
	c.unmark()
	for _, m := range clause[1:] {
		if at, ok := f.steps[m.Var()]; ok {
			r.Given = append(r.Given, at)
		}
	}
	slices.Sort(r.Given)
	return r, nil
}

var errNoSelection = errors.New("solver: internal error: the selection is impossible")

// place decides the picks that are not decided yet.
func (f *certifier) place() error {
	c := f.cdcl
	for {
		if r := c.propagate(); c.poll.spend(1) {
			return &IncompleteError{Err: f.ctx.Err()}
		} else if r != free {
			return errNoSelection
		}
		if f.placed == len(f.picks) {
			return nil
		}
		l := f.picks[f.placed]
		f.placed++
		switch v := c.value(l); {
		case v < 0:
			return errNoSelection
		case v == 0:
			c.decide(l)
		}
	}
}

// search looks for a refutation of the given literals, in the part of the last
// one.
func (f *certifier) search(given []Lit) verdict {
	last := f.of[given[len(given)-1].Var()]
	f.placed = 0
	own := f.x.ask(nil)
	defer own.done(nil)
	given = slices.DeleteFunc(given, func(l Lit) bool { f.cdcl.poll.spend(1); return f.of[l.Var()] != last })
	if f.asked != last {
		f.asked, f.roots = last, nil
		for _, id := range f.x.roots {
			if k := &f.x.cons[id]; !f.cdcl.poll.over() && k.cand < k.end && f.of[f.x.lits[k.cand].Var()] == last {
				f.roots = append(f.roots, id)
			}
		}
	}
	own.queue, own.passed = append(own.queue, f.roots...), f.passed
	v := newOrdered(f.cdcl, own, given, &budget{}).run()
	f.passed = own.passed
	return v
}

// Refute computes a proof that the constraints with the given IDs cannot be met
// together or, if none are given, that all constraints of p cannot. The proof
// may need only some of them: see [Refutation.Core].
//
// Cost: that of a search. The error is [*IncompleteError] if ctx ended first,
// [*ProblemError] if p is malformed or a constraint does not exist, and another
// error if the constraints can be met.
func (p *Problem) Refute(ctx context.Context, ids ...int) (*Refutation, error) {
	if err := p.malformed(); err != nil {
		return nil, err
	}
	x := indexOf(ctx, p)
	if x == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	in := make([]bool, len(p.cons))
	for _, id := range ids {
		if id < 0 || id >= len(p.cons) {
			return nil, &ProblemError{Flaws: []Flaw{{Constraint: id, What: "there is no such constraint"}}}
		}
		in[id] = true
	}
	var w change
	var cons []int32
	poll := poll{ctx: ctx}
	for id := range in {
		if poll.over() {
			return nil, &IncompleteError{Err: ctx.Err()}
		}
		if in[id] || ids == nil {
			cons = append(cons, int32(id))
		} else {
			w.drop = append(w.drop, int32(id))
		}
	}
	c := newCDCL(ctx, x, cons, 0, nil)
	c.proof = newProofLog()
	own := x.ask(&w)
	defer own.done(&w)
	own.begin()
	v := unknown
	if !c.poll.ended {
		v = newOrdered(c, own, nil, &budget{}).run()
	}
	switch {
	case v == unknown:
		return nil, &IncompleteError{Err: ctx.Err()}
	case v == sat || !c.dead:
		return nil, fmt.Errorf("solver: nothing to refute: the constraints can be met together")
	}
	last := c.proof.refute(c)
	r := &Refutation{}
	r.Lemmas, _ = trim(&c.poll, c.proof, []int32{-1 - last}, nil)
	if c.poll.ended {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	return r, nil
}

// trim returns the lemmas that the given hints and steps rest on, in order, and
// the position of each among them, by lemma number. It renumbers the hints of
// the steps accordingly. If the poll is over, the results are unusable.
func trim(poll *poll, g *proofLog, used []int32, steps []CertifiedStep) ([]Lemma, []int) {
	number := list[int](poll, g.size)
	need := list[bool](poll, g.size)
	mark := func(hints []int32) {
		for _, h := range hints {
			if h < 0 && !poll.spend(1) {
				need[-1-h] = true
			}
		}
	}
	mark(used)
	for _, step := range steps {
		for _, r := range step.Refused {
			for _, h := range r.Hints {
				if h < 0 && !poll.spend(1) {
					need[-1-h] = true
				}
			}
		}
	}
	n := 0
	for i := g.size - 1; i >= 0 && !poll.spend(1); i-- {
		if need[i] {
			n++
			mark(g.of(i).hints)
		}
	}
	if poll.ended {
		return nil, nil
	}
	poll.spend(n)
	all := slices.Grow([]Lemma(nil), n)
	for i := range need {
		if poll.spend(1) {
			return nil, nil
		}
		if !need[i] {
			continue
		}
		m := g.of(i)
		number[i] = len(all)
		own := Lemma{Lits: m.lits, Hints: make([]int, len(m.hints)), Counts: m.counts}
		for k, h := range m.hints {
			own.Hints[k] = int(h)
		}
		rename(poll, own.Hints, number)
		all = append(all, own)
	}
	for _, step := range steps {
		for _, r := range step.Refused {
			rename(poll, r.Hints, number)
		}
	}
	return all, number
}

func rename(poll *poll, hints []int, number []int) {
	for i, h := range hints {
		if h < 0 && !poll.spend(1) {
			hints[i] = -1 - number[-1-h]
		}
	}
}
