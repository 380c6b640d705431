package install

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
)

// Backend is the cluster from the engine's point of view. Its methods may be
// called from several goroutines, for different namespaces.
type Backend interface {
	// Observe returns the world of a namespace, see World. The runner owns it.
	Observe(ctx context.Context, namespace string) (*World, error)

	// Apply carries out one action, see Action. Return errors of an API server
	// that rejects a request as [*fairlead.RefusedError].
	Apply(ctx context.Context, namespace string, action Action) error
}

// Resolve answers what to install in a namespace. The method
// [olm.Resolver.Resolve] fits; if catalogs change, use a function that calls that
// of the newest resolver. It must be safe for concurrent use.
type Resolve func(ctx context.Context, req *olm.Request) (*olm.Resolution, error)

// Runner installs and updates the operators of namespaces: it drives [Step], as
// [fairlead.RunnerOptions] says. Objects are named by their namespace. Trigger it
// when something has changed in a namespace, or in the parts of the cluster that
// it depends on: catalogs, CRDs, namespaces, service accounts, and operator groups
// that overlap with its own, whose APIs may now be free.
type Runner = fairlead.Runner[State, *World, Action]

// NewRunner returns a Runner. Nil policy and options mean the defaults. The error
// says what is wrong with the policy. See [Traced] for metrics.
func NewRunner(backend Backend, resolve Resolve, policy *Policy, options *fairlead.RunnerOptions) (*Runner, error) {
	e, err := NewEngine(backend, resolve, policy)
	if err != nil {
		return nil, err
	}
	if options != nil && options.Clock != nil {
		e.Backend.(*asking).clock = options.Clock
	}
	return fairlead.NewRunner(e, options)
}

// NewEngine returns the engine of the Runner, for [fairlead.CheckEngine], which has its own
// backend: the answers of the resolver are part of the worlds that it observes.
func NewEngine(backend Backend, resolve Resolve, policy *Policy) (fairlead.Engine[State, *World, Action], error) {
	if backend == nil || resolve == nil {
		return fairlead.Engine[State, *World, Action]{}, errors.New("install: a Runner needs a Backend and a Resolve")
	}
	own := policy.complete()
	a := &asking{backend: backend, resolve: resolve, clock: fairlead.SystemClock{}, trace: new(Trace), limit: own.ResolveTimeout}
	if t, ok := backend.(*traced); ok {
		a.trace = t.trace
	}
	return fairlead.Engine[State, *World, Action]{
		Name:     "install",
		Version:  StateVersion,
		Upgrade:  UpgradeState,
		Step:     func(state State, w *World, now time.Time) Decision { return Step(state, w, now, &own) },
		Done:     func(s State) bool { return s.isZero() },
		Backend:  a,
		Outcomes: func(w *World, outcomes []fairlead.Outcome) *World { w.Outcomes = outcomes; return w },
	}, policy.Check()
}

// asking is a Backend that asks the resolver about what it observes, and reports
// the values of metrics.
type asking struct {
	backend Backend
	resolve Resolve
	clock   fairlead.Clock
	trace   *Trace
	limit   time.Duration // of a resolution
}

// Observe adds the resolver's answer to what the backend observes.
func (r *asking) Observe(ctx context.Context, namespace string) (*World, error) {
	w, err := r.backend.Observe(ctx, namespace)
	if err != nil {
		return nil, err
	}
	began := r.clock.Now()
	a := &answer{resolution: &olm.Resolution{}}
	if len(w.Subscriptions) > 0 { // even if all of them wait: what they have may require something
		if a, err = r.ask(ctx, w.Request()); err != nil {
			return nil, err
		}
	}
	w.Resolution, w.Refusal = a.resolution, a.refusal
	if f := r.trace.ResolutionDuration; f != nil {
		f(namespace, r.clock.Now().Sub(began), a.cause)
	}
	r.trace.observed(w)
	return w, nil
}

// Apply reports an action that was carried out; warnings are not errors.
func (r *asking) Apply(ctx context.Context, namespace string, action Action) error {
	err := r.backend.Apply(ctx, namespace, action)
	var warned *Warned
	if errors.As(err, &warned) {
		err = nil
		if step, ok := action.(ApplyStep); ok && r.trace.InstallPlanWarning != nil {
			for _, text := range warned.Warnings {
				r.trace.InstallPlanWarning(namespace, step.Plan, text)
			}
		}
	}
	if p, ok := action.(SetPhase); ok && err == nil && p.Upgrade && r.trace.CSVUpgraded != nil {
		r.trace.CSVUpgraded(namespace, p.CSV)
	}
	return err
}
