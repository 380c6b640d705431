package plan

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
)

// Backend is the cluster, as the engine needs it. Its methods may be called from
// several goroutines, for different clusters.
type Backend interface {
	// Observe returns the world of a cluster, see World. The runner owns it.
	Observe(ctx context.Context, cluster string) (*World, error)

	// Apply carries out one action, see Action.
	Apply(ctx context.Context, cluster string, action Action) error
}

// Runner carries out plans: it drives [Step], with the guarantees of
// [fairlead.RunnerOptions]. Objects have the names of their clusters.
type Runner = fairlead.Runner[State, *World, Action]

// NewRunner returns a Runner. Nil policy and options mean the defaults. The error is
// that of Policy.Check.
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
		Name:    "plan",
		Version: StateVersion,
		Upgrade: upgradeState,
		Step:    func(state State, w *World, now time.Time) Decision { return Step(state, w, now, policy) },
		Backend: backend,
		Outcomes: func(w *World, outcomes []fairlead.Outcome) *World {
			w.Outcomes = outcomes
			return w
		},
	}, policy.Check()
}
