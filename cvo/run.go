package cvo

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/loop"
)

// Backend is the cluster, as the engine needs it. Its methods may be called
// from several goroutines, for different clusters.
type Backend interface {
	// Observe returns the world of a cluster, see World. The runner owns it.
	Observe(ctx context.Context, cluster string) (*World, error)

	// Apply carries out one action, see Action. An error of the API server is
	// best told as an *APIError.
	Apply(ctx context.Context, cluster string, action Action) error
}

// BatchBackend is a Backend that carries out several actions at once, which
// it should do where an update is to be quick: manifests of components that do
// not wait for each other come together.
type BatchBackend interface {
	Backend

	// ApplyAll carries out actions and returns an error for each, nil for those
	// that went well.
	ApplyAll(ctx context.Context, cluster string, actions []Action) []error
}

// Runner takes clusters to their versions: it drives [Step], as
// [fairlead.RunnerOptions] says.
type Runner struct {
	loop    *loop.Runner[State, *World, Action]
	backend Backend

	mu       sync.Mutex
	outcomes map[string][]Outcome // by cluster
	prepared map[string]*preparation
}

// maxOutcomes is how many outcomes are remembered for a cluster. Those of one
// pass over a large payload while it is installed must fit in.
const maxOutcomes = 4096

// NewRunner returns a Runner. Nil policy and options mean the zero ones.
func NewRunner(backend Backend, policy *Policy, opts *fairlead.RunnerOptions) *Runner {
	r := &Runner{backend: backend, outcomes: map[string][]Outcome{}, prepared: map[string]*preparation{}}
	engine := loop.Engine[State, *World, Action]{
		Name:    "cvo",
		Version: StateVersion,
		Step: func(state State, w *World, now time.Time) loop.Decision[State, Action] {
			return loop.Decision[State, Action](Step(state, w, now, policy))
		},
		Observe: func(ctx context.Context, cluster string) (*World, error) { return r.observe(ctx, cluster, policy) },
		Apply: func(ctx context.Context, cluster string, action Action) error {
			err := backend.Apply(ctx, cluster, action)
			r.note(cluster, action, err)
			return err
		},
	}
	if batch, ok := backend.(BatchBackend); ok {
		engine.ApplyAll = func(ctx context.Context, cluster string, actions []Action) error {
			return r.applyAll(ctx, batch, cluster, actions)
		}
	}
	r.loop = loop.New(engine, opts)
	return r
}

// Run takes all clusters that have state in the Store, or were nudged, forward
// until ctx ends; then it returns nil. It returns an error when the states
// cannot be listed, or the Clock cannot be waited on.
func (r *Runner) Run(ctx context.Context) error { return r.loop.Run(ctx) }

// Nudge says that something has changed in a cluster: an operator reports
// another version, the ClusterVersion was edited. It never blocks.
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

// observe adds to what the backend sees what became of earlier actions, and the
// preparation of the payload, which is the same from pass to pass.
func (r *Runner) observe(ctx context.Context, cluster string, policy *Policy) (*World, error) {
	w, err := r.backend.Observe(ctx, cluster)
	if err != nil || w == nil {
		return w, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w.Outcomes = slices.Clone(r.outcomes[cluster])
	w.cache = r.prepared[cluster]
	w.keep = func(p *preparation) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.prepared[cluster] = p
	}
	return w, nil
}

func (r *Runner) applyAll(ctx context.Context, batch BatchBackend, cluster string, actions []Action) error {
	errs := batch.ApplyAll(ctx, cluster, actions)
	var failed []error
	for i, a := range actions {
		var err error
		if i < len(errs) {
			err = errs[i]
		}
		r.note(cluster, a, err)
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// note remembers what became of an action, and has the cluster looked at: what
// waits for it can begin.
func (r *Runner) note(cluster string, action Action, err error) {
	key := ""
	switch a := action.(type) {
	case Apply:
		key = a.Key
	case Delete:
		key = a.Key
	case Retrieve:
		key = a.Key // that it was begun; what came of it is observed
	default:
		return
	}
	r.mu.Lock()
	list := slices.DeleteFunc(r.outcomes[cluster], func(o Outcome) bool { return o.Key == key })
	list = append(list, Outcome{key, err})
	if len(list) > maxOutcomes {
		list = list[len(list)-maxOutcomes:]
	}
	r.outcomes[cluster] = list
	r.mu.Unlock()
	r.loop.Nudge(cluster)
}
