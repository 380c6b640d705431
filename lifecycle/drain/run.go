package drain

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
)

// Backend is the cluster, as the engine needs it. Its methods may be called from
// several goroutines, for different nodes.
type Backend interface {
	// Observe returns the world of a node, see World; the runner fills in Outcomes
	// and owns the result. If there is no such node, the world's Node is nil, which
	// is not an error.
	Observe(ctx context.Context, node string) (*World, error)

	// Apply carries out one action, see Action. Return an API's refusal as a
	// [*fairlead.RefusedError].
	Apply(ctx context.Context, node string, action Action) error
}

// Runner takes nodes out of service, and puts them back: it drives [Step], with the
// guarantees of [fairlead.RunnerOptions]. Objects are nodes, by name.
type Runner = fairlead.Runner[State, *World, Action]

// NewRunner returns a Runner. Nil policy and options mean the defaults. The error is
// that of [Policy.Check].
func NewRunner(backend Backend, policy *Policy, opts *fairlead.RunnerOptions) (*Runner, error) {
	e, err := NewEngine(backend, policy)
	if err != nil {
		return nil, err
	}
	return fairlead.NewRunner(e, opts)
}

// NewEngine returns the engine of the Runner, for [fairlead.CheckEngine].
func NewEngine(backend Backend, policy *Policy) (fairlead.Engine[State, *World, Action], error) {
	return fairlead.Engine[State, *World, Action]{
		Name:    "drain",
		Version: StateVersion,
		Upgrade: upgrade,
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
