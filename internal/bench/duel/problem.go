// Package duel gives the same problems to several solvers, judges their answers,
// and measures their cost.
package duel

import (
	"fmt"
	"slices"
)

// Problem is a problem in the terms that all the solvers share. Variables are
// identified by their index.
type Problem struct {
	Vars   []Variable // by index
	Limits [][]int    // at most one of each is selected
}

// Variable is one thing that can be selected.
type Variable struct {
	Name      string  // unique
	Required  bool    // it must be selected
	Needs     [][]int // at least one of each, in order of preference
	Conflicts []int   // none of them together with this one
}

// Answer is the answer of a solver.
type Answer struct {
	Satisfiable bool   // whether there is a selection
	Selected    []bool // by variable, if satisfiable
}

// Check returns an error that names the first constraint that selected breaks.
func (p *Problem) Check(selected []bool) error {
	for i, v := range p.Vars {
		if v.Required && !selected[i] {
			return fmt.Errorf("%s is required and not selected", v.Name)
		}
		if !selected[i] {
			continue
		}
		for _, candidates := range v.Needs {
			if !slices.ContainsFunc(candidates, func(c int) bool { return selected[c] }) {
				return fmt.Errorf("%s is selected and a need of it is not met", v.Name)
			}
		}
		for _, c := range v.Conflicts {
			if selected[c] {
				return fmt.Errorf("%s and %s conflict and both are selected", v.Name, p.Vars[c].Name)
			}
		}
	}
	for i, limit := range p.Limits {
		n := 0
		for _, v := range limit {
			if selected[v] {
				n++
			}
		}
		if n > 1 {
			return fmt.Errorf("limit %d: %d are selected", i, n)
		}
	}
	return nil
}

// Ranks walks an answer that meets all constraints in the order in which all the
// solvers intend to choose, and returns which candidate each choice got: required
// variables in their order, then the needs of what was picked, first in, first out.
// A need that an earlier pick meets is not a choice. Of two answers, the one whose
// ranks are lexicographically smaller is preferred.
func (p *Problem) Ranks(selected []bool) []int {
	var ranks []int
	var queue [][]int
	picked := make([]bool, len(p.Vars))
	pick := func(v int) {
		picked[v] = true
		queue = append(queue, p.Vars[v].Needs...)
	}
	for i, v := range p.Vars {
		if v.Required {
			pick(i)
		}
	}
	for len(queue) > 0 {
		candidates := queue[0]
		queue = queue[1:]
		if slices.ContainsFunc(candidates, func(c int) bool { return picked[c] }) {
			continue
		}
		rank := slices.IndexFunc(candidates, func(c int) bool { return selected[c] })
		ranks = append(ranks, rank)
		pick(candidates[rank])
	}
	return ranks
}
