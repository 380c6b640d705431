package quorum

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
)

// Backend is the control plane, as the guard needs it. Its methods may be called
// from several goroutines, for different clusters.
type Backend interface {
	// Observe returns the world of a cluster, see World; the runner fills in
	// Outcomes and owns the result.
	Observe(ctx context.Context, cluster string) (*World, error)

	// Apply carries out one action, see Action.
	Apply(ctx context.Context, cluster string, action Action) error
}

// Runner guards the quorum of control planes: it drives [Step], with the guarantees
// of [fairlead.RunnerOptions]. Clusters have the names that the Backend uses.
type Runner = fairlead.Runner[State, *World, Action]

// NewRunner returns a Runner. Nil policy and options mean the defaults. The error
// is that of [Policy.Check].
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
		Name:    "quorum",
		Version: StateVersion,
		// Nothing depends on the state of version 1.
		Upgrade: func(int, []byte) (State, error) { return State{}, nil },
		Step: func(state State, w *World, now time.Time) Decision {
			return Step(state, w, now, policy)
		},
		Done:    func(s State) bool { return s.IsZero() },
		Backend: backend,
		Outcomes: func(w *World, outcomes []fairlead.Outcome) *World {
			w.Outcomes = outcomes
			return w
		},
	}, policy.Check()
}
