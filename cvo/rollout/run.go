package rollout

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/loop"
)

// Backend is the cluster, as the engine needs it. Its methods may be called
// from several goroutines, for different pools.
type Backend interface {
	// Observe returns the world of a pool, see World. The runner owns it.
	Observe(ctx context.Context, pool string) (*World, error)

	// Apply carries out one action, see Action.
	Apply(ctx context.Context, pool string, action Action) error
}

// Runner updates the nodes of pools: it drives [Step], as
// [fairlead.RunnerOptions] says. Objects are named by their pool.
type Runner struct {
	loop *loop.Runner[State, *World, Action]
}

// NewRunner returns a Runner. Nil policy and options mean the zero ones.
func NewRunner(backend Backend, policy *Policy, opts *fairlead.RunnerOptions) *Runner {
	return &Runner{loop.New(loop.Engine[State, *World, Action]{
		Name:    "rollout",
		Version: StateVersion,
		Step: func(state State, w *World, now time.Time) loop.Decision[State, Action] {
			return loop.Decision[State, Action](Step(state, w, now, policy))
		},
		Observe: backend.Observe,
		Apply:   backend.Apply,
		Done:    func(s State) bool { return s.isZero() },
	}, opts)}
}

// Run takes all pools that have state in the Store, or were nudged, forward
// until ctx ends; then it returns nil. It returns an error when the states
// cannot be listed, or the Clock cannot be waited on.
func (r *Runner) Run(ctx context.Context) error { return r.loop.Run(ctx) }

// Nudge says that something has changed in a pool or on its nodes. It never
// blocks.
func (r *Runner) Nudge(pool string) { r.loop.Nudge(pool) }

// Reconcile is one pass over a pool, now. It returns the decision that was
// saved, and the errors of all actions that failed, joined.
func (r *Runner) Reconcile(ctx context.Context, pool string) (Decision, error) {
	d, err := r.loop.Reconcile(ctx, pool)
	return Decision(d), err
}

// Preview returns what a pass would decide now. It saves and applies nothing.
func (r *Runner) Preview(ctx context.Context, pool string) (Decision, error) {
	d, err := r.loop.Preview(ctx, pool)
	return Decision(d), err
}
