package install

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/loop"
	"github.com/fairlead/fairlead/solver/olm"
)

// Backend is the cluster, as the engine needs it. Its methods may be called
// from several goroutines, for different namespaces.
type Backend interface {
	// Observe returns the world of a namespace, see World. The runner owns it.
	Observe(ctx context.Context, namespace string) (*World, error)

	// Apply carries out one action, see Action.
	Apply(ctx context.Context, namespace string, action Action) error
}

// Resolve answers what to install in a namespace. The method
// [olm.Resolver.Resolve] fits; where catalogs change, a function that calls
// that of the newest resolver does. It must be safe for concurrent use.
type Resolve func(ctx context.Context, req *olm.Request) (*olm.Resolution, error)

// Runner installs and updates the operators of namespaces: it drives [Step], as
// [fairlead.RunnerOptions] says. Objects are named by their namespace.
type Runner struct {
	// Trace is told of what metrics are made of, nil for nobody. Set it before the
	// first pass.
	Trace *Trace

	clock   fairlead.Clock
	loop    *loop.Runner[State, *World, Action]
	backend Backend
	resolve Resolve

	mu     sync.Mutex
	failed map[string][]Failure // by namespace
}

// NewRunner returns a Runner. Nil policy and options mean the zero ones.
func NewRunner(backend Backend, resolve Resolve, policy *Policy, opts *fairlead.RunnerOptions) *Runner {
	r := &Runner{backend: backend, resolve: resolve, clock: fairlead.SystemClock{}, failed: make(map[string][]Failure)}
	if opts != nil && opts.Clock != nil {
		r.clock = opts.Clock
	}
	r.loop = loop.New(loop.Engine[State, *World, Action]{
		Name:    "install",
		Version: StateVersion,
		Step: func(state State, w *World, now time.Time) loop.Decision[State, Action] {
			return loop.Decision[State, Action](Step(state, w, now, policy))
		},
		Observe: r.observe,
		Apply:   r.apply,
		Done:    func(s State) bool { return s.isZero() },
	}, opts)
	return r
}

// Run takes all namespaces that have state in the Store, or were nudged,
// forward until ctx ends; then it returns nil. It returns an error when the
// states cannot be listed, or the Clock cannot be waited on.
func (r *Runner) Run(ctx context.Context) error { return r.loop.Run(ctx) }

// Nudge says that something has changed in a namespace, or in what it sees of the
// cluster: catalogs, CRDs, namespaces, service accounts, and operator groups that
// meet its own, whose APIs may be free now. It never blocks.
func (r *Runner) Nudge(namespace string) { r.loop.Nudge(namespace) }

// Reconcile is one pass over a namespace, now. It returns the decision that was
// saved, and the errors of all actions that failed, joined.
func (r *Runner) Reconcile(ctx context.Context, namespace string) (Decision, error) {
	d, err := r.loop.Reconcile(ctx, namespace)
	return Decision(d), err
}

// Preview returns what a pass would decide now. It saves and applies nothing.
func (r *Runner) Preview(ctx context.Context, namespace string) (Decision, error) {
	d, err := r.loop.Preview(ctx, namespace)
	return Decision(d), err
}

// observe adds to what the backend sees the resolver's answer, and what the
// last attempts failed with.
func (r *Runner) observe(ctx context.Context, namespace string) (*World, error) {
	w, err := r.backend.Observe(ctx, namespace)
	if err != nil {
		return nil, err
	}
	began := r.clock.Now()
	a := &answer{resolution: &olm.Resolution{}}
	if len(w.Subscriptions) > 0 { // also where all of them wait: what they have may require something
		if a, err = r.ask(ctx, w.Request()); err != nil {
			return nil, err
		}
	}
	w.Resolution, w.Refusal = a.resolution, a.refusal
	if t := r.Trace; t != nil {
		if t.ResolutionDuration != nil {
			t.ResolutionDuration(namespace, r.clock.Now().Sub(began), a.cause)
		}
		t.observed(w)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w.Failures = slices.Clone(r.failed[namespace])
	return w, nil
}

// apply remembers what an action failed with, for the Blocks of later passes.
func (r *Runner) apply(ctx context.Context, namespace string, action Action) error {
	err := r.traced(namespace, action, r.backend.Apply(ctx, namespace, action))
	r.mu.Lock()
	defer r.mu.Unlock()
	key := Key(action)
	failed := slices.DeleteFunc(r.failed[namespace], func(f Failure) bool { return f.Key == key })
	if err != nil {
		failed = append(failed, Failure{key, err.Error()})
	}
	if len(failed) > maxFailures {
		failed = failed[1:]
	}
	r.failed[namespace] = failed
	return err
}

// traced tells of an action that was carried out, and takes warnings for no
// error.
func (r *Runner) traced(namespace string, action Action, err error) error {
	t := r.Trace
	if t == nil {
		t = new(Trace)
	}
	var warned *Warned
	if errors.As(err, &warned) {
		err = nil
		if step, ok := action.(ApplyStep); ok && t.InstallPlanWarning != nil {
			for _, text := range warned.Warnings {
				t.InstallPlanWarning(namespace, step.Plan, text)
			}
		}
	}
	if p, ok := action.(SetPhase); ok && err == nil && p.Upgrade && t.CSVUpgraded != nil {
		t.CSVUpgraded(namespace, p.CSV)
	}
	return err
}

// maxFailures is how many failures are remembered of a namespace.
const maxFailures = 100
