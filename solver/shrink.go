package solver

import (
	"context"
	"errors"
	"slices"
)

// A shrinker finds small sets of constraints of a part that cannot be met
// together, each without those of the ones before.
//
// At first it asks a minimizer, which finds the sets that are documented, but
// has to state which constraints are in force, so that what it learns gets long
// where many constraints are needed. When the budget for that is used up, it
// goes on from what the last refutation used, with the search of this package:
// that proves what it finds, and is asked about the constraints alone.
type shrinker struct {
	p      *Problem
	part   *part
	lits   []elit
	exact  *budget // for the minimizer
	budget *Budget // for the rest
	m      *minimizer
	on     []bool // by position in the part; nil before the first
}

// next returns the next set, or none if what is left can be met, or if that is
// not known when the budget ends. If ctx ends, it is what was found until then.
func (s *shrinker) next(ctx context.Context) (core, error) {
	if s.on == nil {
		s.on = list[bool](&poll{ctx: ctx}, len(s.part.cons))
		for i := range s.on {
			s.on[i] = true
		}
	}
	found, known, err := s.documented(ctx)
	if err == nil && !known {
		found, err = s.rough(ctx, found.ids)
	}
	for _, id := range found.ids {
		at, _ := slices.BinarySearch(s.part.cons, id)
		s.on[at] = false
	}
	return found, err
}

// documented asks the minimizer. If it did not finish, known is false, and the
// set is what is found, if anything.
func (s *shrinker) documented(ctx context.Context) (found core, known bool, err error) {
	if s.exact.over() {
		return core{}, false, nil
	}
	if s.m == nil {
		if s.m, err = newMinimizer(ctx, s.p, s.part, s.lits, s.exact); err != nil {
			return core{}, false, stopped(ctx, knownRefuted)
		}
	}
	kept, minimal, err := s.m.smaller(ctx, s.on)
	if kept != nil {
		found = core{ids: make([]int32, len(kept)), minimal: minimal}
		for i, at := range kept {
			found.ids[i] = s.part.cons[at]
		}
	}
	return found, minimal, err
}

// rough makes a set of constraints smaller: the given ones, or all that are
// left.
func (s *shrinker) rough(ctx context.Context, ids []int32) (core, error) {
	refuted := ids != nil
	for i, is := range s.on {
		if !refuted && is {
			ids = append(ids, s.part.cons[i])
		}
	}
	stage := s.budget.most(s.budget.Left())
	defer s.budget.pay(stage)
	found, err := reduce(ctx, s.p, ids, 0, stage)
	if found.ids == nil && refuted {
		found.ids = ids
	}
	return found, err
}

// Bounds of reduce: how often it repeats a refutation to make it use less, and
// the conflicts of one test at least.
const (
	roundsMax     = 4
	testConflicts = 400
)

// reduce makes a set of constraints that cannot be met smaller. It returns none
// if it can be met, or if the budget or ctx ended before it was refuted.
//
// A test without one constraint may take that many conflicts or, if that is 0,
// four times as many as the refutation, and testConflicts in any case. If it needs
// more, the set is not known to be minimal.
func reduce(ctx context.Context, p *Problem, ids []int32, test int64, b *budget) (core, error) {
	r := &reducer{ctx: ctx, p: p, budget: b}
	before := b.spent
	v, ids := r.refute(ids, 0)
	if v != unsat {
		return core{}, r.stop()
	}
	if test == 0 {
		test = max(testConflicts, 4*(b.spent-before))
	}
	for range roundsMax {
		v, less := r.refute(ids, test)
		if v != unsat || len(less) > len(ids)*19/20 {
			break
		}
		ids = less
	}
	minimal := true
	for i := len(ids) - 1; i >= 0; {
		id := ids[i]
		switch v, less := r.refute(slices.Delete(slices.Clone(ids), i, i+1), test); {
		case v == unsat:
			ids = less
		case v == unknown:
			minimal = false
		}
		if r.ctx.Err() != nil || b.over() {
			return core{ids: ids}, r.stop()
		}
		i, _ = slices.BinarySearch(ids, id)
		i--
	}
	return core{ids, minimal}, nil
}

// A reducer refutes subsets of the constraints of a problem, each stated as a
// problem of its own.
type reducer struct {
	ctx    context.Context
	p      *Problem
	budget *budget
}

func (r *reducer) stop() error {
	if r.ctx.Err() != nil {
		return stopped(r.ctx, knownRefuted)
	}
	return nil
}

// chargeEvery is how many constraints cost as much to state as a conflict.
const chargeEvery = 100

// refute asks whether the constraints can be met and, if not, which of them the
// refutation rests on. It is unknown if ctx or the budget ended, or after most
// conflicts, unless most is 0.
func (r *reducer) refute(ids []int32, most int64) (v verdict, used []int32) {
	r.budget.spent += 1 + int64(len(ids))/chargeEvery
	own := &budget{limit: most}
	if r.budget.limit != 0 && (most == 0 || r.budget.limit-r.budget.spent < most) {
		own = newBudget(max(0, r.budget.limit-r.budget.spent))
	}
	defer func() { r.budget.spent += own.spent }()
	poll := poll{ctx: r.ctx}
	q, _ := r.p.restricted(&poll, ids)
	if q == nil {
		return unknown, nil
	}
	v, used = refuted(r.ctx, q, own)
	for i, at := range used {
		used[i] = ids[at]
	}
	return v, used
}

// refuted asks whether the constraints of a problem can be met, regardless of
// preferences, and if not which of them the refutation rests on.
func refuted(ctx context.Context, p *Problem, b *budget) (v verdict, used []int32) {
	x := newIndex(ctx, p)
	if x == nil {
		return unknown, nil
	}
	cons := make([]int32, len(p.cons))
	for i := range cons {
		cons[i] = int32(i)
	}
	c := newCDCL(ctx, x, cons, 0, nil)
	c.proof = newProofLog()
	own := x.ask(nil)
	own.begin()
	if v, _ = newOrdered(c, own, nil, b).probe(0); v != unsat || c.poll.ended {
		return v, nil
	}
	return unsat, c.proof.core(&c.poll, c.proof.refute(c))
}

// core returns the constraints that a lemma rests on, ascending.
func (g *proofLog) core(poll *poll, last int32) []int32 {
	need := list[bool](poll, g.size)
	var all []int32
	use := func(i int) {
		for _, h := range g.of(i).hints {
			if poll.spend(1); h < 0 {
				need[-1-h] = true
			} else {
				all = append(all, h)
			}
		}
	}
	if poll.ended {
		return nil
	}
	need[last] = true
	for i := int(last); i >= 0; i-- {
		if poll.spend(1); need[i] {
			use(i)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// restricted returns a problem of only these constraints, in their order, and
// of the variables that they name, and those by their numbers there, minus one. It
// returns nil if the poll is over.
func (p *Problem) restricted(poll *poll, ids []int32) (q *Problem, vars []Var) {
	number := list[Var](poll, p.vars+1)
	q = &Problem{}
	rename := func(l Lit) Lit {
		v := l.Var()
		if number[v] == 0 {
			q.vars++
			number[v], vars = Var(q.vars), append(vars, v)
		}
		if l < 0 {
			return number[v].No()
		}
		return number[v].Yes()
	}
	q.cons = list[con](poll, len(ids))[:0]
	for _, id := range ids {
		c := &p.cons[id]
		if poll.spend(4 + int(c.end-c.start)) {
			return nil, nil
		}
		start := int32(len(q.lits))
		if c.subject != 0 {
			q.lits = append(q.lits, rename(c.subject.No()))
		}
		for _, l := range p.lits[c.start:c.end] {
			q.lits = append(q.lits, rename(l))
		}
		q.cons = append(q.cons, con{start: start, end: int32(len(q.lits)), n: c.n, kind: c.kind})
	}
	if poll.ended {
		return nil, nil
	}
	return q, vars
}

var errNoCore = errors.New("solver: internal error: the core is gone")
