package extension

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
)

// Backend is the cluster from the engine's point of view. Its methods may be called
// from several goroutines, for different extensions.
type Backend interface {
	// Observe returns the world of an extension, see World; Answer and Outcomes are
	// the runner's. The runner owns the result. If the extension does not exist,
	// World.Extension is nil, without an error.
	Observe(ctx context.Context, name string) (*World, error)

	// Apply carries out one action, see Action. Return errors of an API server that
	// rejects a request as [*fairlead.RefusedError].
	Apply(ctx context.Context, name string, action Action) error
}

// Resolve decides which bundle an extension should have; Status.Install is what is
// installed. The error is that of ctx: a failed resolution is returned as a refusal.
// It must be safe for concurrent use. See [Alone].
type Resolve func(ctx context.Context, x *ClusterExtension) (*Answer, error)

// Runner installs and updates cluster extensions: it drives [Step], as
// [fairlead.RunnerOptions] says. Objects are extensions, by name. Trigger one when
// it, a revision or an object of it has changed, and all of them when catalogs have.
type Runner = fairlead.Runner[State, *World, Action]

// NewRunner returns a Runner. Nil policy and options mean the defaults. The error
// says what is missing, or is what [Policy.Check] finds.
func NewRunner(backend Backend, resolve Resolve, policy *Policy, options *fairlead.RunnerOptions) (*Runner, error) {
	e, err := NewEngine(backend, resolve, policy)
	if err != nil {
		return nil, err
	}
	return fairlead.NewRunner(e, options)
}

// NewEngine returns what the Runner drives, to be checked with
// [fairlead.CheckEngine], which has its own backend: the answers of the resolver are
// then in its worlds.
func NewEngine(backend Backend, resolve Resolve, policy *Policy) (fairlead.Engine[State, *World, Action], error) {
	e := fairlead.Engine[State, *World, Action]{
		Name:    "extension",
		Version: StateVersion,
		Step:    func(state State, w *World, now time.Time) Decision { return Step(state, w, now, policy) },
		Done:    func(s State) bool { return s.isZero() },
		Outcomes: func(w *World, outcomes []fairlead.Outcome) *World {
			w.Outcomes = outcomes
			return w
		},
	}
	if backend == nil || resolve == nil {
		return e, errors.New("extension: a Runner needs a Backend and a Resolve")
	}
	e.Backend = asking{backend, resolve}
	return e, policy.Check()
}

// asking is a Backend that asks the resolver about what it observes.
type asking struct {
	Backend
	resolve Resolve
}

// Observe adds the resolver's answer to what the backend observes.
func (a asking) Observe(ctx context.Context, name string) (*World, error) {
	w, err := a.Backend.Observe(ctx, name)
	if err != nil {
		return nil, err
	}
	x := w.Extension
	if x == nil || x.DeletionTimestamp != nil {
		return w, nil
	}
	if _, err := QuestionOf(x); err != nil {
		return w, nil // Step says so
	}
	asked := *x
	asked.Status.Install = InstalledOf(w.Revisions) // they are more accurate than the status
	w.Answer, err = a.resolve(ctx, &asked)
	return w, err
}

// Alone returns a Resolve that resolves each extension by itself, as OLM v1 does: a
// bundle with requirements is rejected. The resolver is fetched each time, so that
// one with newer catalogs can replace it.
func Alone(resolver func() *olm.Resolver) Resolve {
	return func(ctx context.Context, x *ClusterExtension) (*Answer, error) {
		q, err := QuestionOf(x)
		if err != nil {
			return &Answer{Refusal: err.Error()}, ctx.Err()
		}
		r := resolver()
		a := &Answer{}
		a.Deprecations, a.Catalogs, a.Known = r.Deprecations(q)
		c, err := r.ResolveExtension(q)
		if err == nil {
			a.Choice = choiceOf(&c.Candidate)
			return a, ctx.Err()
		}
		var source *olm.SourceError
		a.Refusal, a.Again = err.Error(), errors.As(err, &source)
		return a, ctx.Err()
	}
}

func choiceOf(c *olm.Candidate) *Choice {
	return &Choice{BundleName: BundleName{Name: c.Name, Version: c.Version}, Package: c.Package, Reference: c.Bundle.Image(), Catalog: c.Source.Name}
}
