package solver

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Fix is a set of constraints without which the problem has an answer. It is
// minimal unless the budget ended, see Minimal. It contains only constraints that
// the reader can change, see [Adviser].
type Fix struct {
	// Drop are the constraints to drop, in the order of addition.
	Drop []Constraint
	// Advice says what to do, one line for each of Drop.
	Advice []string
	// Effort is the sum of the efforts of Drop, at most math.MaxInt.
	Effort int
	// Minimal reports that dropping fewer of them does not help. If it is false, the
	// budget ended before that was achieved.
	Minimal bool
	// Solution is the selection without them: every fix was tried. It is the
	// best one unless the budget was used up.
	Solution *Solution
}

// fixes returns up to limit fixes, those with the least effort first. If ctx
// ends, it returns those found until then.
func (e *UnsatError) fixes(ctx context.Context, name namer, limit int, b *Budget) (fixes []Fix, err error) {
	_, parts, err := e.pieces(ctx)
	if err != nil {
		return nil, err
	}
	sets := []choiceOfDrops{{}}
	lits := make([]elit, name.p.vars+1)
	stage := b.most(b.Left() - b.Left()/2)
	for i := range parts {
		f, err := newFixer(ctx, name.p, &parts[i], lits, name, stage)
		if err != nil {
			return nil, err
		}
		own, err := f.find(ctx, limit)
		if err == nil && len(own) == 0 && stage.over() {
			b.pay(stage)
			stage = newBudget(0)
			own, err = f.rough(ctx, b)
		}
		if err != nil {
			return nil, err
		}
		sets = combine(sets, own, limit)
	}
	b.pay(stage)
	for _, set := range sets {
		slices.Sort(set.ids)
		p := name.p.changed(&poll{ctx: ctx}, &change{drop: set.ids})
		if p == nil {
			return fixes, stopped(ctx, knownRefuted)
		}
		s, err := Solve(ctx, p, &Options{Budget: b})
		var incomplete *IncompleteError
		switch {
		case ctx.Err() != nil:
			return fixes, stopped(ctx, knownRefuted)
		case errors.As(err, &incomplete) && incomplete.Best == nil:
			continue // it helps, but for what is not known
		case incomplete != nil:
			s = incomplete.Best
		case err != nil:
			return nil, err
		}
		f := Fix{Drop: name.p.constraints(ctx, set.ids), Effort: set.effort.int(), Minimal: !set.rough, Solution: s}
		for _, c := range f.Drop {
			text, _ := name.advice(c)
			f.Advice = append(f.Advice, text)
		}
		fixes = append(fixes, f)
	}
	return fixes, nil
}

// A choiceOfDrops is a set of constraints to drop.
type choiceOfDrops struct {
	ids    []int32
	effort efforts
	rough  bool // it is not known to be minimal
}

// combine joins the fixes of one part with those of another.
func combine(a, b []choiceOfDrops, limit int) []choiceOfDrops {
	var all []choiceOfDrops
	for _, x := range a {
		for _, y := range b {
			all = append(all, choiceOfDrops{slices.Concat(x.ids, y.ids), x.effort.plus(y.effort), x.rough || y.rough})
		}
	}
	slices.SortStableFunc(all, func(x, y choiceOfDrops) int { return x.effort.compare(y.effort) })
	return all[:min(limit, len(all))]
}

// A fixer looks for the cheapest sets of constraints to drop that leave no
// conflict. It keeps the conflicts that it has found, as the sets of changeable
// constraints in them, tries the cheapest set that resolves all of them, and if
// that is not enough learns another conflict.
type fixer struct {
	*minimizer
	effort     []int // by position; 0 if it cannot be changed
	changeable []int // positions, the last first
	conflicts  [][]int
	open       attempts
	seen       map[string]bool // the sets that were opened
	found      [][]int
}

// An attempt is a set of constraints that is dropped.
type attempt struct {
	drop  []int // ascending
	cost  efforts
	bound efforts // no fix with all of drop costs less, as far as is known
}

// attempts is a heap: the attempt with the least bound comes first; among
// those, the one with the most drops, which is closest to its end; among those,
// the first in lexical order.
type attempts []*attempt

func (h attempts) Len() int      { return len(h) }
func (h attempts) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *attempts) Push(x any)   { *h = append(*h, x.(*attempt)) }

func (h attempts) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(a.bound.compare(b.bound), -cmp.Compare(len(a.drop), len(b.drop)), slices.Compare(a.drop, b.drop)) < 0
}

func (h *attempts) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// Bounds on the search of a fixer: attempts tried, and attempts opened.
const (
	attemptsMax = 300
	openMax     = 20_000
)

func newFixer(ctx context.Context, p *Problem, q *part, lits []elit, name namer, b *budget) (*fixer, error) {
	m, err := newMinimizer(ctx, p, q, lits, b)
	if err != nil {
		return nil, stopped(ctx, knownRefuted)
	}
	f := &fixer{minimizer: m, effort: make([]int, len(q.cons)), seen: make(map[string]bool)}
	for i, id := range q.cons {
		if m.poll.spend(16) {
			return nil, stopped(ctx, knownRefuted)
		}
		_, effort := name.advice(p.Constraint(int(id)))
		f.effort[i] = max(0, effort)
		if effort > 0 {
			f.changeable = append(f.changeable, i)
		}
	}
	slices.Reverse(f.changeable)
	return f, nil
}

// find returns up to limit fixes of the part, the cheapest first. If it reaches
// its bounds, or the budget ends, it returns the fixes found so far or, if there
// are none, one that need not be the cheapest.
func (f *fixer) find(ctx context.Context, limit int) ([]choiceOfDrops, error) {
	f.open = attempts{{}}
	for n := 0; len(f.open) > 0 && len(f.found) < limit && n < attemptsMax && len(f.seen) < openMax; n++ {
		if ctx.Err() != nil {
			return nil, stopped(ctx, knownRefuted)
		}
		a := heap.Pop(&f.open).(*attempt)
		if f.covered(a.drop) {
			continue
		}
		if bound := f.bound(a); bound.compare(a.bound) > 0 { // more is known by now
			a.bound = bound
			heap.Push(&f.open, a)
			continue
		}
		conflict := f.unsolved(a.drop)
		v := unsat
		if conflict == nil {
			v, conflict = f.learn(ctx, a.drop)
		}
		switch v {
		case unsat:
			f.branch(a, conflict)
		case sat:
			f.found = append(f.found, a.drop)
		default:
			return f.choices(), f.stop(ctx, v)
		}
	}
	if len(f.found) == 0 && len(f.open) > 0 {
		if err := f.stop(ctx, f.settle(ctx)); err != nil {
			return nil, err
		}
	}
	return f.choices(), nil
}

// choices returns what was found.
func (f *fixer) choices() []choiceOfDrops {
	var all []choiceOfDrops
	for _, drop := range f.found {
		var d choiceOfDrops
		for _, i := range drop {
			d.ids = append(d.ids, f.cons[i])
			d.effort = d.effort.plus(effortOf(f.effort[i]))
		}
		all = append(all, d)
	}
	return all
}

// settle finds one minimal fix: it drops everything that can be changed, and
// restores what it can, the constraints with the most effort first. It is
// unknown if ctx or the budget ended.
func (f *fixer) settle(ctx context.Context) verdict {
	on := f.all()
	for _, i := range f.changeable {
		on[i] = false
	}
	order := slices.Clone(f.changeable)
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(f.effort[j], f.effort[i]), cmp.Compare(i, j)) })
	var drop []int
	for _, i := range order {
		on[i] = true
		switch v, _ := f.refute(ctx, on); v {
		case unknown:
			return v
		case unsat:
			on[i] = false
			drop = append(drop, i)
		}
	}
	v, _ := f.refute(ctx, on)
	if v == sat { // otherwise nothing that can be changed helps
		slices.Sort(drop)
		f.found = append(f.found, drop)
	}
	return v
}

// rough is like settle, but asks the search of this package about the
// constraints alone: for conflicts that are too hard for the engine. It returns
// no more than one fix, which may drop what need not be if the budget ends.
func (f *fixer) rough(ctx context.Context, b *Budget) ([]choiceOfDrops, error) {
	stage := b.most(b.Left())
	defer b.pay(stage)
	r := &reducer{ctx: ctx, p: f.p, budget: stage}
	on := f.all()
	for _, i := range f.changeable {
		on[i] = false
	}
	known := true
	met := func() verdict {
		var ids []int32
		for i, is := range on {
			if is {
				ids = append(ids, f.cons[i])
			}
		}
		v, _ := r.refute(ids, testConflicts)
		known = known && v != unknown
		return v
	}
	if met() != sat {
		return nil, r.stop()
	}
	order := slices.Clone(f.changeable)
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(f.effort[j], f.effort[i]), cmp.Compare(i, j)) })
	var drop []int
	for _, i := range order {
		if on[i] = true; met() != sat {
			on[i] = false
			drop = append(drop, i)
		}
	}
	if ctx.Err() != nil {
		return nil, r.stop()
	}
	slices.Sort(drop)
	f.found = [][]int{drop}
	all := f.choices()
	all[0].rough = !known
	return all, nil
}

// covered reports whether the set includes a fix that was already found.
func (f *fixer) covered(drop []int) bool {
	return slices.ContainsFunc(f.found, func(fix []int) bool {
		return !slices.ContainsFunc(fix, func(i int) bool { return !slices.Contains(drop, i) })
	})
}

// unsolved returns the first known conflict that the set does not solve.
func (f *fixer) unsolved(drop []int) []int {
	for _, conflict := range f.conflicts {
		if !meet(conflict, drop) {
			return conflict
		}
	}
	return nil
}

func meet(a, b []int) bool {
	return slices.ContainsFunc(a, func(i int) bool { return slices.Contains(b, i) })
}

// learn returns the changeable constraints of a conflict that remains without
// the set, if the verdict is unsat.
func (f *fixer) learn(ctx context.Context, drop []int) (verdict, []int) {
	on := f.all()
	for _, i := range drop {
		on[i] = false
	}
	conflict, minimal, _ := f.core(ctx, on, f.changeable)
	switch {
	case !minimal:
		return unknown, nil
	case conflict == nil:
		return sat, nil
	}
	f.conflicts = append(f.conflicts, conflict)
	return unsat, conflict
}

// branch opens the attempts that also solve the conflict.
func (f *fixer) branch(a *attempt, conflict []int) {
	for _, i := range conflict {
		drop := append(slices.Clone(a.drop), i)
		slices.Sort(drop)
		if key := fmt.Sprint(drop); !f.seen[key] {
			f.seen[key] = true
			next := &attempt{drop: drop, cost: a.cost.plus(effortOf(f.effort[i]))}
			next.bound = f.bound(next)
			heap.Push(&f.open, next)
		}
	}
}

// bound returns the cost plus the cheapest drop of every unsolved conflict that
// shares nothing with another one counted.
func (f *fixer) bound(a *attempt) efforts {
	cost := a.cost
	var counted []int
	for _, conflict := range f.conflicts {
		if meet(conflict, a.drop) || meet(conflict, counted) || len(conflict) == 0 {
			continue
		}
		counted = append(counted, conflict...)
		least := f.effort[conflict[0]]
		for _, i := range conflict {
			least = min(least, f.effort[i])
		}
		cost = cost.plus(effortOf(least))
	}
	return cost
}
