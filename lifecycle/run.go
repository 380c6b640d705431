package lifecycle

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
)

// Backend is the cluster, and the cloud below it, as the engine needs them. Its
// methods may be called from several goroutines, for different machines.
type Backend interface {
	// Observe returns the world of a machine, see World; Outcomes are the
	// runner's. The runner owns the result. If there is no such machine, the
	// world's Machine is nil; that is not an error.
	Observe(ctx context.Context, machine string) (*World, error)

	// Apply carries out one action, see Action. Return an API's refusal as a
	// [*fairlead.RefusedError].
	Apply(ctx context.Context, machine string, action Action) error
}

// Runner takes machines through their deletion: it drives [Step], with the
// guarantees of [fairlead.RunnerOptions]. Machines have the names that the
// Backend uses, such as "namespace/name".
type Runner = fairlead.Runner[State, *World, Action]

// NewRunner returns a Runner. Nil policy and options mean the defaults. The
// error is that of [Policy.Check].
func NewRunner(backend Backend, policy *Policy, opts *fairlead.RunnerOptions) (*Runner, error) {
	e, err := NewEngine(backend, policy)
	if err != nil {
		return nil, err
	}
	return fairlead.NewRunner(e, opts)
}

// NewEngine returns the engine of the Runner, for [fairlead.CheckEngine].
func NewEngine(backend Backend, policy *Policy) (fairlead.Engine[State, *World, Action], error) {
	e := fairlead.Engine[State, *World, Action]{
		Name:    "lifecycle",
		Version: StateVersion,
		Upgrade: upgrade,
		Step: func(state State, w *World, now time.Time) Decision {
			return Step(state, w, now, policy)
		},
		Done: func(s State) bool { return s.Done() },
		Outcomes: func(w *World, outcomes []fairlead.Outcome) *World {
			w.Outcomes = outcomes
			return w
		},
	}
	if backend != nil { // which NewRunner refuses
		e.Backend = checked{backend}
	}
	return e, policy.Check()
}

// checked is a Backend whose worlds are checked.
type checked struct{ Backend }

func (c checked) Observe(ctx context.Context, machine string) (*World, error) {
	w, err := c.Backend.Observe(ctx, machine)
	if err != nil {
		return nil, err
	}
	return w, w.Check()
}
