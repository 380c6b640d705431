package cvo

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// Backend is the cluster, as the engine needs it. Its methods may be called
// from several goroutines, for different clusters.
type Backend interface {
	// Observe returns the world of a cluster, see World. The runner owns it.
	Observe(ctx context.Context, cluster string) (*World, error)

	// Apply carries out one action, see Action. Wrap errors of the API server
	// with Refuse.
	Apply(ctx context.Context, cluster string, action Action) error
}

// BatchBackend is a Backend that carries out several actions at once. That makes updates
// faster: manifests of components that do not wait for each other arrive together.
type BatchBackend interface {
	Backend

	// ApplyAll carries out actions and returns an error for each, nil for those that
	// succeeded.
	ApplyAll(ctx context.Context, cluster string, actions []Action) []error
}

// Runner updates clusters to their versions: it drives [Step], with the guarantees of
// [fairlead.RunnerOptions].
type Runner = fairlead.Runner[State, *World, Action]

// maxOutcomes is how many outcomes are remembered for a cluster. It must hold those of
// one pass over a large payload during an installation.
const maxOutcomes = 4096

// NewRunner returns a Runner. Nil policy and options mean the defaults. The error is
// that of Policy.Check.
func NewRunner(backend Backend, policy *Policy, opts *fairlead.RunnerOptions) (*Runner, error) {
	engine, err := NewEngine(backend, policy)
	if err != nil {
		return nil, err
	}
	d := &driven{Backend: backend, policy: policy, prepared: map[string]*Prepared{}}
	engine.Step = d.step
	switch batch, ok := backend.(BatchBackend); {
	case backend == nil: // which NewRunner refuses
	case !ok:
		engine.Backend = d
	default:
		engine.Backend = &drivenBatch{driven: d, batch: batch}
	}
	d.runner, err = fairlead.NewRunner(engine, opts)
	return d.runner, err
}

// NewEngine returns the engine of the Runner, for [fairlead.CheckEngine]. The Runner keeps
// the prepared payload from pass to pass; this one prepares it in each.
func NewEngine(backend Backend, policy *Policy) (fairlead.Engine[State, *World, Action], error) {
	return fairlead.Engine[State, *World, Action]{
		Name:        "cvo",
		Version:     StateVersion,
		Upgrade:     upgradeState,
		Step:        func(state State, w *World, now time.Time) Decision { return Step(state, w, now, policy) },
		Backend:     backend,
		Outcomes:    func(w *World, outcomes []fairlead.Outcome) *World { w.Outcomes = outcomes; return w },
		MaxOutcomes: maxOutcomes,
		Successes:   true,
	}, policy.Check()
}

// driven is the backend as the runner drives it: it keeps the prepared payload of each
// cluster from pass to pass, and triggers the cluster after each action, because tasks
// that wait for it may begin.
type driven struct {
	Backend
	policy *Policy
	runner *Runner

	mu       sync.Mutex
	prepared map[string]*Prepared // by cluster
}

// Observe implements Backend.
func (d *driven) Observe(ctx context.Context, cluster string) (*World, error) {
	w, err := d.Backend.Observe(ctx, cluster)
	if err != nil || w == nil {
		return w, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	w.Prepared, w.name = d.prepared[cluster], cluster
	return w, nil
}

// step is Step with the prepared payload, which it keeps.
func (d *driven) step(state State, w *World, now time.Time) Decision {
	if p := Prepare(state, w, d.policy); p != nil && p != w.Prepared {
		w.Prepared = p
		d.mu.Lock()
		d.prepared[w.name] = p
		d.mu.Unlock()
	}
	return Step(state, w, now, d.policy)
}

// Apply implements Backend.
func (d *driven) Apply(ctx context.Context, cluster string, action Action) error {
	defer d.applied(cluster, action)
	return d.Backend.Apply(ctx, cluster, action)
}

// applied triggers the cluster, except after a write of the status.
func (d *driven) applied(cluster string, action Action) {
	if _, ok := action.(WriteStatus); !ok {
		d.runner.Trigger(cluster)
	}
}

// drivenBatch is driven for a BatchBackend.
type drivenBatch struct {
	*driven
	batch BatchBackend
}

// ApplyAll implements BatchBackend.
func (d *drivenBatch) ApplyAll(ctx context.Context, cluster string, actions []Action) []error {
	for _, a := range actions {
		defer d.applied(cluster, a)
	}
	return d.batch.ApplyAll(ctx, cluster, actions)
}
