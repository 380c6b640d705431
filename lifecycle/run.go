package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/loop"
)

// Backend is the cluster, and the cloud below it, as the engine needs them. Its
// methods may be called from several goroutines, for different machines.
type Backend interface {
	// Observe returns the world of a machine, see World; Failures are the
	// runner's. The runner owns what it gets. When there is no such machine the
	// world's Machine is nil, which is no error.
	Observe(ctx context.Context, machine string) (*World, error)

	// Apply carries out one action, see Action. What an API has refused is best
	// returned as a [*RefusedError].
	Apply(ctx context.Context, machine string, action Action) error
}

// RefusedError is the answer of an API that has refused an action.
type RefusedError struct {
	Code       int           // the HTTP status, as 429 for an eviction that a budget forbids
	Message    string        // the answer's, in words
	RetryAfter time.Duration // how long the answer asks to wait; 0 if it does not
}

// Error states code and message.
func (e *RefusedError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// Runner takes machines through their deletion: it drives [Step], as
// [fairlead.RunnerOptions] says. Machines are named as the Backend names them,
// as in "namespace/name".
type Runner struct {
	loop    *loop.Runner[State, *World, Action]
	backend Backend
	clock   fairlead.Clock

	mu     sync.Mutex
	failed map[string][]Failure // by machine
}

// NewRunner returns a Runner. Nil policy and options mean the zero ones. The
// error is what [Policy.Check] finds.
func NewRunner(backend Backend, policy *Policy, opts *fairlead.RunnerOptions) (*Runner, error) {
	if err := policy.Check(); err != nil {
		return nil, err
	}
	r := &Runner{backend: backend, clock: fairlead.SystemClock{}, failed: make(map[string][]Failure)}
	if opts != nil && opts.Clock != nil {
		r.clock = opts.Clock
	}
	r.loop = loop.New(loop.Engine[State, *World, Action]{
		Name:    "lifecycle",
		Version: StateVersion,
		Step: func(state State, w *World, now time.Time) loop.Decision[State, Action] {
			d := Step(state, w, now, policy)
			name := state.UID
			if w.Machine != nil {
				name = w.Machine.String()
			}
			return loop.Decision[State, Action]{State: d.State, Actions: d.Actions, Blocked: d.Blocked(name), Wake: d.Wake}
		},
		Observe: r.observe,
		Apply:   r.apply,
		Done:    func(s State) bool { return s.Done() },
	}, opts)
	return r, nil
}

// Run takes all machines that have state in the Store, or were nudged, forward
// until ctx ends; then it returns nil. It returns an error when the states
// cannot be listed, or the Clock cannot be waited on.
func (r *Runner) Run(ctx context.Context) error { return r.loop.Run(ctx) }

// Nudge says that something has changed about a machine: the machine itself,
// its node, the pods there, their budgets. It never blocks.
func (r *Runner) Nudge(machine string) { r.loop.Nudge(machine) }

// Reconcile is one pass over a machine, now. It returns the decision that was
// saved, and the errors of all actions that failed, joined.
func (r *Runner) Reconcile(ctx context.Context, machine string) (Decision, error) {
	d, err := r.loop.Reconcile(ctx, machine)
	return Decision{State: d.State, Actions: d.Actions, Wake: d.Wake}, err
}

// Preview returns what a pass would decide now. It saves and applies nothing.
func (r *Runner) Preview(ctx context.Context, machine string) (Decision, error) {
	d, err := r.loop.Preview(ctx, machine)
	return Decision{State: d.State, Actions: d.Actions, Wake: d.Wake}, err
}

// observe adds to what the backend sees what the last attempts failed with.
func (r *Runner) observe(ctx context.Context, machine string) (*World, error) {
	w, err := r.backend.Observe(ctx, machine)
	if err != nil {
		return nil, err
	}
	if err := w.Check(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.Machine == nil {
		delete(r.failed, machine)
	}
	w.Failures = slices.Clone(r.failed[machine])
	return w, nil
}

// maxFailures is how many failures are remembered of a machine.
const maxFailures = 500

// apply remembers what an action failed with, for later passes.
func (r *Runner) apply(ctx context.Context, machine string, action Action) error {
	err := r.backend.Apply(ctx, machine, action)
	r.mu.Lock()
	defer r.mu.Unlock()
	key := action.Key()
	failed := slices.DeleteFunc(r.failed[machine], func(f Failure) bool { return f.Key == key })
	if err != nil {
		f := Failure{Key: key, Message: err.Error(), At: r.clock.Now().Round(0).UTC()}
		var refused *RefusedError
		if errors.As(err, &refused) {
			f.Code, f.Message, f.RetryAfter = refused.Code, refused.Message, refused.RetryAfter
		}
		failed = append(failed, f)
	}
	if len(failed) > maxFailures {
		failed = failed[1:]
	}
	if len(failed) == 0 {
		delete(r.failed, machine)
	} else {
		r.failed[machine] = failed
	}
	return err
}
