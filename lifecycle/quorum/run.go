package quorum

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
)

// Backend is the control plane, as the guard needs it. Its methods may be called
// from several goroutines, for different clusters.
type Backend interface {
	// Observe returns the world of a cluster, see World; Outcomes are the runner's.
	// The runner owns the result.
	Observe(ctx context.Context, cluster string) (*World, error)

	// Apply carries out one action, see Action.
	Apply(ctx context.Context, cluster string, action Action) error
}

// Runner guards the quorum of control planes: it drives [Step], as
// [fairlead.RunnerOptions] says. Clusters are named as the Backend names them.
type Runner = fairlead.Runner[State, *World, Action, fairlead.Block]

// NewRunner returns a Runner. Nil policy and options mean the zero ones. The
// error is what [Policy.Check] finds.
func NewRunner(backend Backend, policy *Policy, opts *fairlead.RunnerOptions) (*Runner, error) {
	if err := policy.Check(); err != nil {
		return nil, err
	}
	return fairlead.NewRunner(fairlead.Engine[State, *World, Action, fairlead.Block]{
		Name:    "quorum",
		Version: StateVersion,
		// Nothing rests on what version 1 has kept.
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
	}, opts)
}
