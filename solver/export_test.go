package solver

import (
	"context"
	"slices"
)

// AtMost encodes that at most n of size variables are selected, and returns a
// function that reports whether the engine allows a set. network reports
// whether a sorting network was used.
func AtMost(n, size int) (allowed func(set uint64) bool, network bool) {
	e := &encoding{poll: poll{ctx: context.Background()}}
	e.engine = newEngine(size+limitHelpers(size, n), size*size, &budget{})
	var lits []elit
	for range size {
		lits = append(lits, e.engine.fresh())
	}
	if n < size {
		e.atMost(n, lits)
	}
	return func(set uint64) bool {
		assumptions := make([]elit, size)
		for i, l := range lits {
			assumptions[i] = l
			if set>>i&1 == 0 {
				assumptions[i] = -l
			}
		}
		return e.engine.solve(context.Background(), assumptions...) == sat
	}, n > 1 && n < size && !counts(size, n)
}

// SolveByTrials implements the rule of Solve literally, by asking the SAT
// engine about every candidate whether the constraints can be met with it and
// the earlier picks. It shares no search with Solve. It adds the number of
// engine runs to runs.
func SolveByTrials(ctx context.Context, p *Problem, runs *int) (*Solution, error) {
	x := newIndex(ctx, p)
	whole := part{}
	for v := range p.vars {
		whole.vars = append(whole.vars, Var(v+1))
	}
	for id := range p.cons {
		whole.cons = append(whole.cons, int32(id))
	}
	e, err := encode(ctx, p, &whole, make([]elit, p.vars+1), &budget{})
	if err != nil {
		return nil, err
	}
	*runs++
	if e.engine.solve(ctx) == unsat {
		return nil, newUnsatError(p, nil, func(Var) bool { return true })
	}
	s := x.ask(nil)
	s.begin()
	poll := poll{ctx: ctx}
	for con, cands, ok := s.next(&poll); ok; con, cands, ok = s.next(&poll) {
		for _, l := range cands {
			*runs++
			if e.engine.solve(ctx, e.of(l)) == sat {
				e.engine.add(e.of(l))
				s.pick(con, l.Var())
				break
			}
		}
	}
	return newSolution(ctx, p, nil, s.log)
}

// Over returns how many conflicts more than there were have been taken out of b.
func (b *Budget) Over() int64 { return max(0, -b.left.Load()) }

// Broken returns what the judge says about a selection, looking at all
// constraints or only at those that it touches.
func Broken(p *Problem, picks []Var, touched bool) string {
	var j *judge
	if touched {
		j = newJudge(context.Background(), p)
	}
	var log []decision
	for _, v := range picks {
		log = append(log, decision{pick: v})
	}
	return examine(context.Background(), p, j, nil, log)
}

// AllPicks returns what is selected, with what Minimize adds, ascending.
func (s *Solution) AllPicks() []Var {
	var all []Var
	for _, d := range s.log {
		all = append(all, d.pick)
	}
	slices.Sort(all)
	return all
}

// Whole returns the problem with what Minimize adds.
func (s *Solution) Whole() *Problem { return s.whole() }

// RefuteByCounting returns a refutation that only counts demands, or nil if that
// does not show anything.
func RefuteByCounting(p *Problem) *Refutation {
	x := newIndex(context.Background(), p)
	cons := make([]int32, len(p.cons))
	for i := range cons {
		cons[i] = int32(i)
	}
	c := newCDCL(context.Background(), x, cons, 0, nil)
	c.proof = newProofLog()
	if c.dead {
		return nil
	}
	demands, limits := c.crowd()
	if demands == nil {
		return nil
	}
	c.fail(c.counted(demands, limits))
	r := &Refutation{}
	r.Lemmas, _ = trim(&c.poll, c.proof, []int32{-1 - c.proof.refute(c)}, nil)
	return r
}

// Reduced makes constraints that cannot be met together fewer, with tests of that
// many conflicts. It reports whether they are minimal, and whether any of
// the budget was left.
func Reduced(p *Problem, test, conflicts int64) (core []int, minimal, left bool) {
	b := newBudget(conflicts)
	all := make([]int32, len(p.cons))
	for id := range all {
		all[id] = int32(id)
	}
	found, _ := reduce(context.Background(), p, all, test, b)
	for _, id := range found.ids {
		core = append(core, int(id))
	}
	return core, found.minimal, !b.over()
}
