package duel

import (
	"context"
	"errors"
	"fmt"

	"github.com/operator-framework/deppy/pkg/deppy"
	"github.com/operator-framework/deppy/pkg/deppy/constraint"
	deppysolver "github.com/operator-framework/deppy/pkg/deppy/solver"
	olm "github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/solver"

	"github.com/fairlead/fairlead/solver"
)

// A Solver prepares a problem in its own terms, and returns a function that
// solves it once. Only that function is measured.
type Solver struct {
	Name string // as the tables have it
	// Prepare states a problem. What it returns may be called any number of
	// times, and gives the error of the context where the solver looks at it.
	Prepare func(p *Problem) func(ctx context.Context) (Answer, error)
}

// Solvers returns ours, and then the peers.
func Solvers() []Solver {
	return []Solver{
		{"fairlead", prepareOurs},
		{"OLM", prepareOLM},
		{"deppy", prepareDeppy},
	}
}

// prepareOurs states the problem, as the peers' own benchmark finds theirs
// stated. A problem keeps nothing of a solve: every one begins anew.
func prepareOurs(p *Problem) func(context.Context) (Answer, error) {
	problem := state(p)
	return func(ctx context.Context) (Answer, error) {
		solution, err := solver.Solve(ctx, problem, nil)
		return ourAnswer(p, solution, err)
	}
}

// state states a problem in our terms. The variable of index i is i+1: they
// are counted from 1.
func state(p *Problem) *solver.Problem {
	problem := &solver.Problem{}
	for _, v := range p.Vars {
		problem.Var(v.Name)
	}
	var buffer []solver.Var
	list := func(indexes []int) []solver.Var {
		buffer = buffer[:0]
		for _, i := range indexes {
			buffer = append(buffer, solver.Var(i+1))
		}
		return buffer
	}
	for i, v := range p.Vars {
		self := solver.Var(i + 1)
		if v.Required {
			problem.Require(self, nil)
		}
		for _, candidates := range v.Needs {
			problem.Depend(self, list(candidates), nil)
		}
		for _, c := range v.Conflicts {
			problem.Exclude(self, solver.Var(c+1), nil)
		}
	}
	for _, limit := range p.Limits {
		problem.Limit(1, list(limit), nil)
	}
	return problem
}

func ourAnswer(p *Problem, solution *solver.Solution, err error) (Answer, error) {
	if errors.As(err, new(*solver.UnsatError)) {
		return Answer{}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Satisfiable: true, Selected: make([]bool, len(p.Vars))}
	for v := range solution.Selected() {
		answer.Selected[v-1] = true
	}
	return answer, nil
}

type olmVariable struct {
	id          olm.Identifier
	index       int // -1 for a limit
	constraints []olm.Constraint
}

// Identifier implements olm.Variable.
func (v *olmVariable) Identifier() olm.Identifier { return v.id }

// Constraints implements olm.Variable.
func (v *olmVariable) Constraints() []olm.Constraint { return v.constraints }

func prepareOLM(p *Problem) func(context.Context) (Answer, error) {
	ids := func(indexes []int) []olm.Identifier {
		var all []olm.Identifier
		for _, i := range indexes {
			all = append(all, olm.Identifier(p.Vars[i].Name))
		}
		return all
	}
	var input []olm.Variable
	for i, v := range p.Vars {
		variable := &olmVariable{id: olm.Identifier(v.Name), index: i}
		if v.Required {
			variable.constraints = append(variable.constraints, olm.Mandatory())
		}
		for _, candidates := range v.Needs {
			variable.constraints = append(variable.constraints, olm.Dependency(ids(candidates)...))
		}
		for _, c := range v.Conflicts {
			variable.constraints = append(variable.constraints, olm.Conflict(olm.Identifier(p.Vars[c].Name)))
		}
		input = append(input, variable)
	}
	for i, limit := range p.Limits {
		input = append(input, &olmVariable{
			id:          olm.Identifier(fmt.Sprintf("limit %d", i)),
			index:       -1,
			constraints: []olm.Constraint{olm.Mandatory(), olm.AtMost(1, ids(limit)...)},
		})
	}
	return func(ctx context.Context) (Answer, error) {
		s, err := olm.New(olm.WithInput(input))
		if err != nil {
			return Answer{}, err
		}
		selected, err := s.Solve(ctx)
		if errors.As(err, &olm.NotSatisfiable{}) {
			return Answer{}, nil
		}
		if err != nil {
			return Answer{}, err
		}
		answer := Answer{Satisfiable: true, Selected: make([]bool, len(p.Vars))}
		for _, v := range selected {
			if i := v.(*olmVariable).index; i >= 0 {
				answer.Selected[i] = true
			}
		}
		return answer, nil
	}
}

type deppyVariable struct {
	id          deppy.Identifier
	index       int // -1 for a limit
	constraints []deppy.Constraint
}

// Identifier implements deppy.Variable.
func (v *deppyVariable) Identifier() deppy.Identifier { return v.id }

// Constraints implements deppy.Variable.
func (v *deppyVariable) Constraints() []deppy.Constraint { return v.constraints }

func prepareDeppy(p *Problem) func(context.Context) (Answer, error) {
	ids := func(indexes []int) []deppy.Identifier {
		var all []deppy.Identifier
		for _, i := range indexes {
			all = append(all, deppy.Identifier(p.Vars[i].Name))
		}
		return all
	}
	var input []deppy.Variable
	for i, v := range p.Vars {
		variable := &deppyVariable{id: deppy.Identifier(v.Name), index: i}
		if v.Required {
			variable.constraints = append(variable.constraints, constraint.Mandatory())
		}
		for _, candidates := range v.Needs {
			variable.constraints = append(variable.constraints, constraint.Dependency(ids(candidates)...))
		}
		for _, c := range v.Conflicts {
			variable.constraints = append(variable.constraints, constraint.Conflict(deppy.Identifier(p.Vars[c].Name)))
		}
		input = append(input, variable)
	}
	for i, limit := range p.Limits {
		input = append(input, &deppyVariable{
			id:          deppy.Identifier(fmt.Sprintf("limit %d", i)),
			index:       -1,
			constraints: []deppy.Constraint{constraint.Mandatory(), constraint.AtMost(1, ids(limit)...)},
		})
	}
	return func(context.Context) (Answer, error) { // it takes no context
		s, err := deppysolver.New()
		if err != nil {
			return Answer{}, err
		}
		selected, err := s.Solve(input)
		if errors.As(err, &deppy.NotSatisfiable{}) {
			return Answer{}, nil
		}
		if err != nil {
			return Answer{}, err
		}
		answer := Answer{Satisfiable: true, Selected: make([]bool, len(p.Vars))}
		for _, v := range selected {
			if i := v.(*deppyVariable).index; i >= 0 {
				answer.Selected[i] = true
			}
		}
		return answer, nil
	}
}
