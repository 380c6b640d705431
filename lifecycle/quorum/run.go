package quorum

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/loop"
)

// Backend is the control plane, as the guard needs it. Its methods may be called
// from several goroutines, for different clusters.
type Backend interface {
	// Observe returns the world of a cluster, see World; Failures are the runner's.
	// The runner owns what it gets.
	Observe(ctx context.Context, cluster string) (*World, error)

	// Apply carries out one action, see Action.
	Apply(ctx context.Context, cluster string, action Action) error
}

// Runner guards the quorum of control planes: it drives [Step], as
// [fairlead.RunnerOptions] says. Clusters are named as the Backend names them.
type Runner struct {
	loop    *loop.Runner[State, *World, Action]
	backend Backend

	mu     sync.Mutex
	failed map[string][]Failure // by cluster
}

// NewRunner returns a Runner. Nil policy and options mean the zero ones.
func NewRunner(backend Backend, policy *Policy, opts *fairlead.RunnerOptions) *Runner {
	r := &Runner{backend: backend, failed: make(map[string][]Failure)}
	r.loop = loop.New(loop.Engine[State, *World, Action]{
		Name:    "quorum",
		Version: StateVersion,
		Step: func(state State, w *World, now time.Time) loop.Decision[State, Action] {
			return loop.Decision[State, Action](Step(state, w, now, policy))
		},
		Observe: r.observe,
		Apply:   r.apply,
		Done:    func(s State) bool { return len(s.Waits) == 0 && len(s.Retries) == 0 },
	}, opts)
	return r
}

// Run guards all clusters that were nudged, or have state in the Store, until
// ctx ends; then it returns nil. It returns an error when the states cannot be
// listed, or the Clock cannot be waited on.
func (r *Runner) Run(ctx context.Context) error { return r.loop.Run(ctx) }

// Nudge says that something has changed about a cluster. It never blocks.
func (r *Runner) Nudge(cluster string) { r.loop.Nudge(cluster) }

// Reconcile is one pass over a cluster, now. It returns the decision that was
// saved, and the errors of all actions that failed, joined.
func (r *Runner) Reconcile(ctx context.Context, cluster string) (Decision, error) {
	d, err := r.loop.Reconcile(ctx, cluster)
	return Decision(d), err
}

// Preview returns what a pass would decide now. It saves and applies nothing.
func (r *Runner) Preview(ctx context.Context, cluster string) (Decision, error) {
	d, err := r.loop.Preview(ctx, cluster)
	return Decision(d), err
}

func (r *Runner) observe(ctx context.Context, cluster string) (*World, error) {
	w, err := r.backend.Observe(ctx, cluster)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w.Failures = slices.Clone(r.failed[cluster])
	return w, nil
}

// maxFailures is how many failures are remembered of a cluster.
const maxFailures = 100

// apply remembers what an action failed with, for the Blocks of later passes.
func (r *Runner) apply(ctx context.Context, cluster string, action Action) error {
	err := r.backend.Apply(ctx, cluster, action)
	r.mu.Lock()
	defer r.mu.Unlock()
	key := action.Key()
	failed := slices.DeleteFunc(r.failed[cluster], func(f Failure) bool { return f.Key == key })
	if err != nil {
		failed = append(failed, Failure{key, err.Error()})
	}
	r.failed[cluster] = failed[max(0, len(failed)-maxFailures):]
	return err
}
