package solver

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Step says how a variable came to be selected.
type Step struct {
	// Pick is the variable.
	Pick Var
	// Demand is the constraint that called for it.
	Demand Constraint
	// Rank is the position of Pick among the candidates of Demand, from 0.
	Rank int
}

// String describes the step in one line.
func (s Step) String() string {
	return s.Demand.problem.Name(s.Pick) + ", since " + s.Demand.String()
}

// Steps returns all choices that were made, in order.
func (s *Solution) Steps() []Step {
	steps := make([]Step, len(s.log))
	for i := range s.log {
		steps[i] = s.step(i)
	}
	return steps
}

func (s *Solution) step(i int) Step {
	d := s.log[i]
	p := s.base
	if int(d.con) >= len(p.cons) {
		p = s.Problem()
	}
	demand := p.Constraint(int(d.con))
	return Step{Pick: d.pick, Demand: demand, Rank: slices.Index(candidates(demand), d.pick)}
}

// Why returns the chain of steps that led to v: it begins with what is
// required, each step's Demand is triggered by the Pick before it, and the last
// Pick is v. It is nil if v is not selected.
func (s *Solution) Why(v Var) []Step {
	var chain []Step
	for at := s.find(v); at >= 0; {
		step := s.step(at)
		chain = append(chain, step)
		at = -1
		for _, l := range step.Demand.Lits { // the last trigger picked is what made it a demand
			if !l.Selects() {
				at = max(at, s.find(l.Var()))
			}
		}
	}
	slices.Reverse(chain)
	return chain
}

// find returns the choice that picked v, or -1.
func (s *Solution) find(v Var) int {
	return slices.IndexFunc(s.log, func(d decision) bool { return d.pick == v })
}

// RefusalKind says why a variable is not selected.
type RefusalKind uint8

// The kinds of refusals.
const (
	// NotAsked: nothing that is selected calls for the variable.
	NotAsked RefusalKind = iota + 1
	// NotNeeded: what calls for it is met by a candidate that is preferred, or
	// that was selected before.
	NotNeeded
	// Impossible: it was preferred, but cannot be selected together with the
	// earlier choices.
	Impossible
)

// String returns the kind in words.
func (k RefusalKind) String() string {
	switch k {
	case NotAsked:
		return "not asked"
	case NotNeeded:
		return "not needed"
	case Impossible:
		return "impossible"
	}
	return fmt.Sprintf("RefusalKind(%d)", uint8(k))
}

// A Refusal says why a variable is not selected.
type Refusal struct {
	// Var is the variable.
	Var Var
	// Kind is the kind of reason.
	Kind RefusalKind
	// Demand is the first constraint that called for Var: in the order of the
	// choices if Kind is Impossible, in the order of addition if it is
	// NotNeeded. A constraint that refused Var comes before one that did not
	// need it. Demand is the zero Constraint if Kind is NotAsked.
	Demand Constraint
	// Instead is the pick that meets Demand.
	Instead Var
	// Core, if Kind is Impossible, is a minimal set of constraints that, with
	// the picks in Given, rules Var out, in the order of addition.
	Core []Constraint
	// Given are the earlier picks that are part of the reason, in the order of
	// the choices.
	Given []Var
	// Tree presents Core and Given as an explanation does.
	Tree []*Statement

	name     namer
	linesMax int
}

// String describes the refusal in words: in one line or, if Kind is Impossible,
// in as many as the options allow.
func (r *Refusal) String() string {
	switch r.Kind {
	case NotNeeded:
		return fmt.Sprintf("%s is not selected: %s does for this: %s", r.name.of(r.Var), r.name.of(r.Instead), r.Demand)
	case Impossible:
		head := fmt.Sprintf("%s would be preferred to %s, but these cannot be met together:", r.name.of(r.Var), r.name.of(r.Instead))
		return strings.Join(tell(head, r.Tree, r.linesMax), "\n")
	}
	return r.name.of(r.Var) + " is not selected: nothing that is selected calls for it"
}

// WhyNot says why v is not selected. It returns nil, without an error, if v is.
//
// If v was a better candidate than the pick, the reason is a minimal one:
// constraints first, and earlier picks only if they are needed. Of the options,
// Name and MaxLines apply.
//
// The error is [*IncompleteError] if ctx ended first.
func (s *Solution) WhyNot(ctx context.Context, v Var, options *ExplainOptions) (*Refusal, error) {
	poll := poll{ctx: ctx}
	p := s.problem(&poll)
	if p == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	selected := newBitset(p.vars)
	for _, d := range s.log {
		poll.spend(1)
		selected.put(d.pick)
	}
	if selected.has(v) {
		return nil, nil
	}
	opts := options.withDefaults()
	r := &Refusal{Var: v, Kind: NotAsked, name: namer{p, opts.Name}, linesMax: opts.MaxLines}
	for i, d := range s.log {
		if s.preferred(&poll, v, d) {
			r.Kind, r.Demand, r.Instead = Impossible, p.Constraint(int(d.con)), d.pick
			return r, s.refuse(ctx, r, i)
		}
	}
	for id := range p.cons {
		if poll.spend(4) {
			break
		}
		c := &p.cons[id]
		if c.kind == Limitation || !contains(&poll, p.lits[c.start:c.end], v.Yes()) {
			continue
		}
		own := p.Constraint(id)
		if slices.ContainsFunc(own.Lits, func(l Lit) bool { return !l.Selects() && !selected.has(l.Var()) }) {
			continue
		}
		r.Kind, r.Demand = NotNeeded, own
		at := slices.IndexFunc(s.log, func(d decision) bool { return poll.ended || contains(&poll, own.Lits, d.pick.Yes()) })
		r.Instead = s.log[at].pick
		break
	}
	if poll.ended {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	return r, nil
}

// preferred reports whether v is a candidate of the choice that comes before
// its pick.
func (s *Solution) preferred(poll *poll, v Var, d decision) bool {
	p := s.Problem()
	c := &p.cons[d.con]
	for _, l := range p.lits[c.start:c.end] {
		switch {
		case l == d.pick.Yes() || poll.spend(1):
			return false
		case l == v.Yes():
			return true
		}
	}
	return false
}

func contains(poll *poll, lits []Lit, l Lit) bool {
	poll.spend(len(lits) / 4)
	return slices.Contains(lits, l)
}

// refuse computes the reason for a refusal at the choice.
func (s *Solution) refuse(ctx context.Context, r *Refusal, i int) error {
	q, err := s.refuser(ctx, r.Var)
	if err != nil {
		return err
	}
	cons, given, err := q.why(ctx, s.picks(i), r.Var)
	if err != nil {
		return err
	}
	more := len(given) + 1 // the picks, and what is tried, are requirements
	p := s.Problem().copied(&q.poll, more, more, more)
	if p == nil {
		return &IncompleteError{Err: ctx.Err()}
	}
	for _, id := range cons {
		r.Core = append(r.Core, s.Problem().Constraint(int(id)))
		r.Core[len(r.Core)-1].problem = p
	}
	tree := slices.Clone(r.Core)
	for _, v := range given {
		r.Given = append(r.Given, v)
		p.Require(v, supposed("was picked before"))
		tree = append(tree, p.Constraint(len(p.cons)-1))
	}
	p.Require(r.Var, supposed("is tried"))
	tree = append(tree, p.Constraint(len(p.cons)-1))
	r.Tree = newGrower(p, namer{p, r.name.name}, tree).grow()
	return nil
}

// picks returns what was picked before the choice.
func (s *Solution) picks(i int) []Var {
	var vars []Var
	for _, d := range s.log[:i] {
		vars = append(vars, d.pick)
	}
	return vars
}

// A refuser finds out why candidates were passed over, in one part.
type refuser struct {
	*minimizer
}

// refuser returns a refuser for the part that v is in.
func (s *Solution) refuser(ctx context.Context, v Var) (*refuser, error) {
	p := s.Problem()
	x := indexOf(ctx, p)
	if x == nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	for _, q := range parts(ctx, x) {
		if slices.Contains(q.vars, v) {
			m, err := newMinimizer(ctx, p, &q, make([]elit, p.vars+1), &budget{})
			return &refuser{m}, err
		}
	}
	if ctx.Err() != nil {
		return nil, &IncompleteError{Err: ctx.Err()}
	}
	return nil, fmt.Errorf("solver: internal error: %s was passed over but is in no part", s.Problem().Name(v))
}

// why returns a minimal reason why v cannot be selected with the earlier picks:
// constraints, ascending, and those of the picks that are needed, in their
// order. It can be called only once.
func (r *refuser) why(ctx context.Context, picks []Var, v Var) (cons []int32, given []Var, err error) {
	m, n := r.minimizer, len(r.cons)
	var own []Var
	for _, pick := range append(slices.Clip(picks), v) {
		if _, in := slices.BinarySearch(m.vars, pick); !in {
			continue
		}
		m.at[m.lits[pick]] = len(m.switches)
		m.switches = append(m.switches, m.lits[pick])
		own = append(own, pick)
	}
	on, order := list[bool](&m.poll, len(m.switches)), list[int](&m.poll, len(m.switches)) // the last first; v is not dropped
	if m.poll.ended {
		return nil, nil, &IncompleteError{Err: ctx.Err()}
	}
	for i := range on {
		m.poll.spend(1)
		on[i], order[i] = true, len(on)-1-i
	}
	core, err := m.core(ctx, on, order[1:])
	if err != nil {
		return nil, nil, err
	}
	if core == nil {
		return nil, nil, fmt.Errorf("solver: internal error: %s was passed over but is possible", r.p.Name(v))
	}
	for _, i := range core {
		if i < n {
			cons = append(cons, r.cons[i])
		} else {
			given = append(given, own[i-n])
		}
	}
	return cons, given, nil
}
