package solver

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/words"
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
	steps := make([]Step, 0, len(s.log))
	for i, d := range s.log {
		if s.own(d.pick) {
			steps = append(steps, s.step(i))
		}
	}
	return steps
}

func (s *Solution) step(i int) Step {
	d := s.log[i]
	p := s.base
	if int(d.con) >= len(p.cons) {
		p = s.whole()
	}
	demand := s.demand(p, d.con)
	return Step{Pick: d.pick, Demand: demand, Rank: slices.Index(candidates(demand), d.pick)}
}

// demand returns a constraint without the variables that Minimize adds: what a
// criterion wants is a Clause of one literal.
func (s *Solution) demand(p *Problem, con int32) Constraint {
	c := p.Constraint(int(con))
	if s.given != nil && int(con) >= s.before.cons {
		c.Lits = c.Lits[:1]
	}
	return c
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
	// Costly: it was preferred, but with the earlier choices every selection
	// with it costs more by the criteria of [Minimize].
	Costly
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
	case Costly:
		return "costly"
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
	// Instead is the pick that meets Demand, or 0 if only a criterion of
	// [Minimize] wants Var.
	Instead Var
	// Core, if Kind is Impossible, are constraints that, with the picks in
	// Given, rule Var out, in the order of addition.
	Core []Constraint
	// Minimal reports that none of Core and Given can be left out. If it is
	// false, the budget or the context ended before that was achieved.
	Minimal bool
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
	case Costly:
		if r.Instead == 0 {
			return r.name.of(r.Var) + " is not selected: every selection with it costs more by the criteria"
		}
		return fmt.Sprintf("%s would be preferred to %s, but every selection with it costs more by the criteria", r.name.of(r.Var), r.name.of(r.Instead))
	case Impossible:
		head := fmt.Sprintf("%s would be preferred to %s, but these cannot be met together:", r.name.of(r.Var), r.name.of(r.Instead))
		if r.Instead == 0 {
			head = r.name.of(r.Var) + " is wanted, but these cannot be met together:"
		}
		return words.JoinLines(tell(head, r.Tree, r.linesMax))
	}
	return r.name.of(r.Var) + " is not selected: nothing that is selected calls for it"
}

// WhyNot says why v is not selected. It returns nil, without an error, if v is.
//
// If v was a better candidate than the pick, the reason is a minimal one, if the
// budget suffices: constraints first, and earlier picks only if they are needed.
// Of the options, Name, MaxLines and Budget apply.
//
// If v is not a variable of the problem, the error is [*ProblemError]. If ctx ended
// first, it is [*IncompleteError], and the refusal is what was found until then, or
// nil.
func (s *Solution) WhyNot(ctx context.Context, v Var, options *ExplainOptions) (*Refusal, error) {
	poll := poll{ctx: ctx}
	p := s.problem(&poll)
	if p == nil {
		return nil, stopped(ctx, knownSelected)
	}
	if !p.has(v) || !s.own(v) {
		return nil, &ProblemError{Flaws: []Flaw{{Constraint: -1, What: fmt.Sprintf("asked about variable %d, which the problem does not have", v)}}}
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
			r.Kind, r.Demand, r.Instead = Impossible, s.demand(p, d.con), d.pick
			if !s.own(d.pick) {
				r.Instead = 0
			}
			return s.refuse(ctx, r, i, opts.Budget.or(explainConflicts))
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
		return nil, stopped(ctx, knownSelected)
	}
	return r, nil
}

// preferred reports whether v is a candidate of the choice that comes before
// its pick.
func (s *Solution) preferred(poll *poll, v Var, d decision) bool {
	p := s.whole()
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
func (s *Solution) refuse(ctx context.Context, r *Refusal, i int, b *Budget) (*Refusal, error) {
	q, err := s.partOf(ctx, r.Var)
	if err != nil {
		return nil, err
	}
	picks := s.picks(q, i)
	// The picks, and what is tried, are requirements.
	p := s.whole().copied(&poll{ctx: ctx}, len(picks)+1, len(picks)+1, len(picks)+1)
	if p == nil {
		return nil, stopped(ctx, knownSelected)
	}
	first := len(p.cons)
	for _, v := range picks {
		p.Require(v, supposed("was picked before"))
	}
	p.Require(r.Var, supposed("is tried"))
	why, err := s.why(ctx, q, append(slices.Clip(picks), r.Var), p, b)
	if err == errPossible && s.given != nil {
		r.Kind, r.Minimal = Costly, true
		return r, nil
	}
	if why.ids == nil {
		return nil, err
	}
	r.Minimal = why.minimal
	// What Minimize adds rules nothing out.
	why.ids = slices.DeleteFunc(why.ids, func(id int32) bool {
		at := int(id) - first
		return s.given != nil && (at < 0 && int(id) >= s.before.cons || at >= 0 && at < len(picks) && !s.own(picks[at]))
	})
	tree := p.constraints(ctx, why.ids)
	if tree == nil {
		return nil, stopped(ctx, knownSelected)
	}
	for j, id := range why.ids {
		switch at := int(id) - first; {
		case at < 0:
			r.Core = append(r.Core, tree[j])
		case at < len(picks):
			r.Given = append(r.Given, picks[at])
		}
	}
	if p.size(why.ids) <= toldMax {
		r.Tree = newGrower(p, namer{p, r.name.name}, tree).grow()
	}
	return r, err
}

// picks returns what was picked in the part before the choice.
func (s *Solution) picks(q *part, i int) []Var {
	var vars []Var
	for _, d := range s.log[:i] {
		if _, in := slices.BinarySearch(q.vars, d.pick); in {
			vars = append(vars, d.pick)
		}
	}
	return vars
}

// partOf returns the part that v is in.
func (s *Solution) partOf(ctx context.Context, v Var) (*part, error) {
	x := indexOf(ctx, s.whole())
	if x == nil {
		return nil, stopped(ctx, knownSelected)
	}
	for _, q := range parts(ctx, x) {
		if _, in := slices.BinarySearch(q.vars, v); in {
			return &q, nil
		}
	}
	if ctx.Err() != nil {
		return nil, stopped(ctx, knownSelected)
	}
	return nil, fmt.Errorf("solver: internal error: %s was passed over but is in no part", s.whole().Name(v))
}

var errPossible = errors.New("solver: internal error: what was passed over is possible")

// why returns a reason why the last of the variables cannot be selected with
// those before it: constraints of the part, and of those that p adds, which
// require the variables one by one, the ones that are needed. They are minimal
// if the budget suffices, constraints before variables, and in any case include
// the last. If ctx ends, they are what was found until then.
func (s *Solution) why(ctx context.Context, q *part, required []Var, p *Problem, b *Budget) (core, error) {
	exact := b.most(max(1, b.Left()/2))
	m, err := newMinimizer(ctx, s.whole(), q, make([]elit, p.vars+1), exact)
	if err != nil {
		return core{}, stopped(ctx, knownSelected)
	}
	ids := slices.Clip(q.cons)
	for i, v := range required {
		m.at[m.lits[v]] = len(m.switches)
		m.switches = append(m.switches, m.lits[v])
		ids = append(ids, int32(len(p.cons)-len(required)+i))
	}
	on, order := list[bool](&m.poll, len(ids)), list[int](&m.poll, len(ids)) // the last first; v is not dropped
	if m.poll.ended {
		return core{}, stopped(ctx, knownSelected)
	}
	for i := range on {
		m.poll.spend(1)
		on[i], order[i] = true, len(on)-1-i
	}
	kept, minimal, err := m.core(ctx, on, order[1:])
	b.pay(exact)
	switch {
	case kept == nil && minimal:
		return core{}, errPossible
	case kept != nil:
		all := make([]int32, 0, len(kept)+1)
		for _, i := range kept {
			all = append(all, ids[i])
		}
		ids = append(all, ids[len(ids)-1])
	}
	if err != nil {
		if kept == nil {
			ids = nil
		}
		return core{ids: ids}, stopped(ctx, knownSelected)
	}
	if minimal {
		return core{ids, true}, nil
	}
	rest := b.most(b.Left())
	defer b.pay(rest)
	found, err := reduce(ctx, p, ids, 0, rest)
	if found.ids == nil {
		found.ids = ids
	}
	if last := ids[len(ids)-1]; found.ids[len(found.ids)-1] != last { // it is impossible by itself
		found.ids = append(found.ids, last)
	}
	if err != nil {
		err = stopped(ctx, knownSelected)
	}
	return found, err
}
