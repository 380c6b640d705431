package solver

import "context"

// AtMost encodes that at most n of size variables are selected, and returns a
// function that tells what the engine holds of a set: whether it is allowed.
// network tells that a sorting network was used.
func AtMost(n, size int) (allowed func(set uint64) bool, network bool) {
	e := &encoding{poll: poll{ctx: context.Background()}}
	e.engine, _ = newEngine(context.Background(), size+limitHelpers(size, n), size*size, &budget{})
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

// SolveBlind is Solve with a propagator that knows little: nothing of what the
// candidates of a demand have in common. So it runs into dead ends all the time,
// and leaves the work to the SAT engine. It adds the runs of that to runs.
func SolveBlind(ctx context.Context, p *Problem, runs *int) (*Solution, error) {
	x := newOccurrences(ctx, p)
	w := newWalk(p, x)
	w.begin()
	dead := w.greedy(ctx)
	if len(dead) == 0 {
		return answer(ctx, p, w)
	}
	s := newSearch(ctx, p, x, &Options{})
	open := s.open
	s.open = func(ctx context.Context, i int) (*encoding, error) {
		e, err := open(ctx, i)
		if err == nil {
			e.engine = &counted{e.engine, runs}
		}
		return e, err
	}
	s.draw = func(i int) bool {
		var cons []int32
		for _, id := range s.parts[i].cons {
			c := &p.cons[id]
			if c.kind == Limitation || c.end-c.start == 1 || !hasCandidate(p.litsOf(c)) {
				cons = append(cons, id)
			}
		}
		return s.guess.add(ctx, p, cons)
	}
	return s.solve(ctx, w, dead)
}

type counted struct {
	engine
	runs *int
}

func (c *counted) solve(ctx context.Context, assumptions ...elit) verdict {
	*c.runs++
	return c.engine.solve(ctx, assumptions...)
}
