package solver

import "context"

// This file is the judge of every answer. It reads the constraints as they were
// given, one by one, and shares no code with what looks for the answer.

// violated returns the first constraint of p that the selection breaks. When ctx
// ends it returns early.
func violated(ctx context.Context, p *Problem, selected func(Var) bool) (Constraint, bool) {
	poll := poll{ctx: ctx}
	for id := range p.cons {
		if poll.over() {
			break
		}
		if c := p.Constraint(id); !holds(c, selected) {
			return c, true
		}
	}
	return Constraint{}, false
}

func holds(c Constraint, selected func(Var) bool) bool {
	switch c.Kind {
	case Requirement:
		return selected(c.Lits[0].Var())
	case Prohibition:
		return !selected(c.Lits[0].Var())
	case Exclusion:
		return !selected(c.Lits[0].Var()) || !selected(c.Lits[1].Var())
	case Dependency:
		if !selected(c.Lits[0].Var()) {
			return true
		}
		for _, candidate := range c.Lits[1:] {
			if selected(candidate.Var()) {
				return true
			}
		}
		return false
	case Limitation:
		n := 0
		for _, l := range c.Lits { // no variable is in it twice
			if selected(l.Var()) {
				n++
			}
		}
		return n <= c.N
	case Clause:
		for _, l := range c.Lits {
			if selected(l.Var()) == l.Selects() {
				return true
			}
		}
		return false
	}
	return false
}
