package fairlead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Engine is what a [Runner] drives: a pure Step over values of the engine's own
// types, and a Backend that observes and acts. S is the State of one object, W
// the World that is observed for it, A the interface of actions.
//
// In return for the guarantees of [RunnerOptions], an engine follows these rules:
//
//  1. Step is pure: it reads no clock, does no I/O, calls nothing that its
//     arguments hold, and does not modify them. The time it gets is in UTC,
//     without a monotonic reading.
//  2. Each action of a decision is valid by itself on the saved State, whether
//     those before it succeed or fail, and may be applied again.
//  3. State survives encoding/json: decoding gives what was encoded.
//  4. When the format of State changes, Version is raised, and Upgrade reads
//     older versions.
//  5. Recorded times later than now count as now: see [Past].
type Engine[S, W any, A Action] struct {
	// Name begins the keys of the states in the Store. Lower-case letters only.
	Name string

	// Version is the version of the format of S, 1 or more.
	Version int

	// Upgrade reads state of an older version. It is required from version 2 on.
	Upgrade func(version int, state []byte) (S, error)

	// Step decides. Whoever creates the Engine binds the policy to it.
	Step func(state S, world W, now time.Time) Decision[S, A]

	// Done reports whether state is no longer needed, because decisions would be
	// the same without it. It is then deleted, once all actions of the decision
	// were applied without an error. Nil means that state is always kept.
	Done func(state S) bool

	// Backend is the world. It may be a [BatchBackend].
	Backend Backend[W, A]

	// Outcomes returns an observed world with the results of the last attempts at
	// actions. The Runner owns the list and passes the same one until it changes.
	// Nil means that Step does not need them.
	Outcomes func(world W, outcomes []Outcome) W

	// MaxOutcomes is how many of the latest outcomes are kept for an object.
	// Zero means 500.
	MaxOutcomes int

	// Successes keeps the outcomes of successes as well as of failures.
	Successes bool
}

// Backend connects an engine to the world. Each engine declares this interface
// for its own types, and documents what it expects of an implementation. Methods
// are called from several goroutines, for different objects.
type Backend[W any, A Action] interface {
	// Observe returns the world as the named object sees it. The Runner owns the
	// result.
	Observe(ctx context.Context, name string) (W, error)

	// Apply carries out one action that was decided on for the named object.
	// Return an API's refusal as a [*RefusedError].
	Apply(ctx context.Context, name string, action A) error
}

// BatchBackend is a Backend that carries out several actions at once.
type BatchBackend[W any, A Action] interface {
	Backend[W, A]

	// ApplyAll carries out all actions of one decision; Apply is not called then.
	// It returns an error for each action, in order, nil for those that succeeded.
	// If the list is shorter, the rest succeeded.
	ApplyAll(ctx context.Context, name string, actions []A) []error
}

// check says why the engine cannot be run.
func (e *Engine[S, W, A]) check() error {
	letters := func(r rune) bool { return 'a' <= r && r <= 'z' }
	switch {
	case e.Name == "" || strings.TrimFunc(e.Name, letters) != "":
		return fmt.Errorf("engine %q: its Name must consist of the letters a to z", e.Name)
	case e.Version < 1:
		return fmt.Errorf("engine %s: its Version is %d: begin with 1", e.Name, e.Version)
	case e.Version > 1 && e.Upgrade == nil:
		return fmt.Errorf("engine %s: it is at version %d and has no Upgrade to read older state with", e.Name, e.Version)
	case e.Step == nil:
		return errors.New("engine " + e.Name + ": it has no Step")
	case e.Backend == nil:
		return errors.New("engine " + e.Name + ": it has no Backend")
	}
	return nil
}

// outcomes remembers the results of attempts, for one object.
type outcomes struct {
	list   []Outcome
	shared bool // with a reader: its elements must not change
}

// share returns the list itself, which is then read-only.
func (l *outcomes) share() []Outcome {
	l.shared = true
	return slices.Clip(l.list)
}

// add replaces the outcome of an action by the latest one, and keeps at most so
// many outcomes. A shared list is copied before an element changes; appending to
// it does not affect those who read it.
func (l *outcomes) add(o Outcome, keep bool, most int) {
	at := slices.IndexFunc(l.list, func(x Outcome) bool { return x.Key == o.Key })
	full := at < 0 && keep && len(l.list) >= most
	if l.shared && (at >= 0 || full) {
		l.list, l.shared = slices.Clone(l.list), false
	}
	switch {
	case at >= 0:
		l.list = slices.Delete(l.list, at, at+1)
	case full:
		l.list = slices.Delete(l.list, 0, len(l.list)-most+1)
	}
	if keep {
		l.list = append(l.list, o)
	}
}
