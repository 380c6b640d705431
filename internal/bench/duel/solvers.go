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
	Name string // as in the tables
	// Prepare states a problem. The function that it returns may be called any
	// number of times, and returns the error of the context if the solver checks it.
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

// prepareOurs states the problem before it is timed, as the peers' own benchmark
// does. A problem keeps nothing of a solve, so each starts from scratch.
func prepareOurs(p *Problem) func(context.Context) (Answer, error) {
	problem := state(p)
	return func(ctx context.Context) (Answer, error) {
		solution, err := solver.Solve(ctx, problem, nil)
		return ourAnswer(p, solution, err)
	}
}

// state states a problem in our terms. The variable of index i is i+1, since ours are
// counted from 1. They have no names, which are those of the Problem.
func state(p *Problem) *solver.Problem {
	problem := &solver.Problem{}
	constraints, literals := len(p.Limits), 0
	for i := range p.Vars {
		v := &p.Vars[i]
		if constraints += len(v.Needs) + len(v.Conflicts); v.Required {
			constraints++
		}
		for _, candidates := range v.Needs {
			literals += len(candidates)
		}
	}
	for _, limit := range p.Limits {
		literals += len(limit)
	}
	problem.Grow(0, constraints, literals+2*constraints) // no more than two for each need and conflict
	problem.NewVars(len(p.Vars))
	var buffer []solver.Var
	list := func(indexes []int) []solver.Var {
		buffer = buffer[:0]
		for _, i := range indexes {
			buffer = append(buffer, solver.Var(i+1))
		}
		return buffer
	}
	for i := range p.Vars {
		v, self := &p.Vars[i], solver.Var(i+1)
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

// variable is a variable of a peer. Both peers have the same terms, but in types of
// their own: I is the peer's type of identifiers, C that of constraints.
type variable[I ~string, C any] struct {
	id          I
	index       int // -1 for a limit
	constraints []C
}

// Identifier implements the Variable of both peers.
func (v *variable[I, C]) Identifier() I { return v.id }

// Constraints implements the Variable of both peers.
func (v *variable[I, C]) Constraints() []C { return v.constraints }

// terms are the constructors of a peer's constraints.
type terms[I ~string, C any] struct {
	mandatory  func() C
	dependency func(...I) C
	conflict   func(I) C
	atMost     func(int, ...I) C
}

// state states a problem in a peer's terms.
func (t *terms[I, C]) state(p *Problem) []*variable[I, C] {
	ids := func(indexes []int) []I {
		var all []I
		for _, i := range indexes {
			all = append(all, I(p.Vars[i].Name))
		}
		return all
	}
	var input []*variable[I, C]
	for i, v := range p.Vars {
		x := &variable[I, C]{id: I(v.Name), index: i}
		if v.Required {
			x.constraints = append(x.constraints, t.mandatory())
		}
		for _, candidates := range v.Needs {
			x.constraints = append(x.constraints, t.dependency(ids(candidates)...))
		}
		for _, c := range v.Conflicts {
			x.constraints = append(x.constraints, t.conflict(I(p.Vars[c].Name)))
		}
		input = append(input, x)
	}
	for i, limit := range p.Limits {
		input = append(input, &variable[I, C]{
			id:          I(fmt.Sprintf("limit %d", i)),
			index:       -1,
			constraints: []C{t.mandatory(), t.atMost(1, ids(limit)...)},
		})
	}
	return input
}

// peerAnswer returns what a peer selected in our terms. V is the peer's interface of
// variables.
func peerAnswer[I ~string, C, V any](p *Problem, selected []V) Answer {
	answer := Answer{Satisfiable: true, Selected: make([]bool, len(p.Vars))}
	for _, v := range selected {
		if i := any(v).(*variable[I, C]).index; i >= 0 {
			answer.Selected[i] = true
		}
	}
	return answer
}

func prepareOLM(p *Problem) func(context.Context) (Answer, error) {
	t := terms[olm.Identifier, olm.Constraint]{olm.Mandatory, olm.Dependency, olm.Conflict, olm.AtMost}
	var input []olm.Variable
	for _, v := range t.state(p) {
		input = append(input, v)
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
		return peerAnswer[olm.Identifier, olm.Constraint](p, selected), nil
	}
}

func prepareDeppy(p *Problem) func(context.Context) (Answer, error) {
	t := terms[deppy.Identifier, deppy.Constraint]{constraint.Mandatory, constraint.Dependency, constraint.Conflict, constraint.AtMost}
	var input []deppy.Variable
	for _, v := range t.state(p) {
		input = append(input, v)
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
		return peerAnswer[deppy.Identifier, deppy.Constraint](p, selected), nil
	}
}
