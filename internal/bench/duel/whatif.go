package duel

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/bench/cost"
	"github.com/fairlead/fairlead/solver"
)

// Suppositions is the cost of many suppositions about one kind of graph.
type Suppositions struct {
	Count      int           // how many were made
	Cold, Warm time.Duration // all of them, by Solve and by sessions
}

// RunWhatIf supposes for each graph with an answer, for each selected variable in
// turn, that it is forbidden, and lets both a session and a fresh Solve answer. The
// answers must be equal. Stating the problem is not measured.
func RunWhatIf(ctx context.Context, g Graph) (Suppositions, error) {
	var sum Suppositions
	for seed := range g.Seeds {
		p := g.Problem(int64(seed))
		if err := sum.add(ctx, p); err != nil {
			return Suppositions{}, fmt.Errorf("%s, seed %d: %w", g, seed, err)
		}
	}
	return sum, nil
}

func (s *Suppositions) add(ctx context.Context, p *Problem) error {
	session, err := solver.NewSession(state(p), nil)
	if err != nil {
		return err
	}
	solution, err := session.Solve(ctx, nil)
	base, err := ourAnswer(p, solution, err)
	if err != nil || !base.Satisfiable {
		return err
	}
	for i, selected := range base.Selected {
		if !selected || p.Vars[i].Required {
			continue
		}
		start := cost.CPU()
		solution, err := session.Solve(ctx, &solver.WhatIf{Forbid: []solver.Var{solver.Var(i + 1)}})
		warm := cost.CPU() - start
		got, err := ourAnswer(p, solution, err)
		if err != nil {
			return err
		}
		fresh := state(p)
		fresh.Forbid(solver.Var(i+1), nil)
		start = cost.CPU()
		solution, err = solver.Solve(ctx, fresh, nil)
		cold := cost.CPU() - start
		want, err := ourAnswer(p, solution, err)
		if err != nil {
			return err
		}
		if got.Satisfiable != want.Satisfiable || !slices.Equal(got.Selected, want.Selected) {
			return fmt.Errorf("without %s: a session's answer differs", p.Vars[i].Name)
		}
		s.Count++
		s.Cold += cold
		s.Warm += warm
	}
	return nil
}
