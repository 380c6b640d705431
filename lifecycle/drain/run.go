package drain

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
)

// Backend is the cluster, as the engine needs it. Its methods may be called from
// several goroutines, for different nodes.
type Backend interface {
	// Observe returns the world of a node, see World; Outcomes are the runner's. The
	// runner owns the result. When there is no such node the world's Node is nil,
	// which is no error.
	Observe(ctx context.Context, node string) (*World, error)

	// Apply carries out one action, see Action. Return what an API has refused
	// as a [*fairlead.RefusedError].
	Apply(ctx context.Context, node string, action Action) error
}

// Runner takes nodes out of service, and gives them back: it drives [Step], as
// [fairlead.RunnerOptions] says. Objects are nodes, by name.
type Runner = fairlead.Runner[State, *World, Action, Wait]

// NewRunner returns a Runner. Nil policy and options mean the zero ones. The
// error is what [Policy.Check] finds.
func NewRunner(backend Backend, policy *Policy, opts *fairlead.RunnerOptions) (*Runner, error) {
	e, err := NewEngine(backend, policy)
	if err != nil {
		return nil, err
	}
	return fairlead.NewRunner(e, opts)
}

// NewEngine returns what the Runner drives, to be checked with
// [fairlead.CheckEngine].
func NewEngine(backend Backend, policy *Policy) (fairlead.Engine[State, *World, Action, Wait], error) {
	return fairlead.Engine[State, *World, Action, Wait]{
		Name:    "drain",
		Version: StateVersion,
		Step: func(state State, w *World, now time.Time) Decision {
			return Step(state, w, now, policy)
		},
		Done:    func(s State) bool { return s.Done() },
		Backend: backend,
		Outcomes: func(w *World, outcomes []fairlead.Outcome) *World {
			w.Outcomes = outcomes
			return w
		},
	}, policy.Check()
}
