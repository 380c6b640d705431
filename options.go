package fairlead

import (
	"fmt"
	"time"
)

// RunnerOptions configure a Runner of any engine. The zero value is usable. A
// Runner guarantees:
//
//  1. A pass over one object loads its state, observes the world, steps, saves
//     the new state, and only then applies the actions, in order. Nothing is
//     applied if the state could not be saved. An action that fails does not
//     prevent later ones from being applied.
//  2. One object is never in two passes at a time; different objects are, in up
//     to Workers. Triggers of an object that is waiting or in a pass become
//     one pass, which begins after the last of them.
//  3. The next pass begins at the decision's Wake or when it is triggered.
//     After actions were applied and no Wake was set, and for a Wake that is
//     not in the future, it begins MinRetry later: the effect of an action is
//     always observed, and no object spins.
//  4. A pass that fails is retried after MinRetry, then after twice as long each
//     time, up to MaxRetry, without jitter. A trigger brings the retry forward,
//     and so does the Wake of a decision of which only actions failed, but not
//     before MinRetry. A panic of a backend is a failure, a [*PanicError].
//  5. When Run's context ends, no pass begins and no further action is applied.
//     Calls of the backend or the store that are in progress may finish, for up
//     to Grace; then their context ends too. Run returns when all of them have
//     returned.
//  6. Several runners may share a Store, in one process or in many. If two have
//     decided on the same state, only one can save; the other reads the new
//     state and decides again. Both may apply the same action: actions are
//     idempotent.
//  7. State carries the version of its format. A newer runner reads what an
//     older one saved; an older one refuses what a newer one saved, with a
//     [*VersionError], and applies nothing.
//  8. When Run begins, every object that has state in the Store gets a pass.
//  9. The results of attempts at actions are kept in memory, and passed to the
//     next Step of the object if the engine asks for them: see [Outcome]. They are
//     dropped when the object needs no state.
//  10. A fault of one object stays with that object: a call that does not return
//     (CallTimeout), a state that cannot be read. A Store that cannot be used any
//     more ends Run.
type RunnerOptions struct {
	// Store keeps the state of all objects. Nil means a [MemStore]: then nothing
	// outlives the process.
	Store Store

	// Clock tells the time. Nil means [SystemClock]. A clock that is set forward
	// makes passes due earlier; one that is set back delays nothing by more than
	// the minute in which that may go unnoticed.
	Clock Clock

	// Workers is how many passes run in parallel. Zero means 4.
	Workers int

	// MinRetry is the delay before the first retry after a failure. Zero means
	// a second.
	MinRetry time.Duration

	// MaxRetry is the longest such delay. Zero means a minute.
	MaxRetry time.Duration

	// Interval is the mean time between the starts of two passes over any
	// objects. Zero means no limit.
	Interval time.Duration

	// Burst is how many passes may begin at once after a quiet time, despite
	// Interval. Zero means one.
	Burst int

	// Grace is how long calls in progress may take after Run's context has ended.
	// Zero means 30 seconds; a negative Grace ends them at once.
	Grace time.Duration

	// CallTimeout is how long a call of the Backend or the Store may take. Then its
	// context ends, the pass is reported with a [*StuckError], another worker takes
	// its place, and the object waits until the call has returned. Zero means 15
	// minutes, which is above the limits that engines set themselves; a negative
	// value means no limit. It is counted by the machine's clock, not by Clock.
	CallTimeout time.Duration

	// Trace receives what happens. Nil means that nothing is traced.
	Trace *Trace
}

// Trace holds functions that a Runner calls as things happen: for logs, metrics
// and tests. Each may be nil. They are called from several goroutines, those
// for one object in order; they block the pass that calls them, and must not
// panic.
type Trace struct {
	// Begin is called when a pass over the object begins.
	Begin func(name string)

	// Saved is called when the state was written, and with the empty revision
	// when it was deleted because it is no longer needed.
	Saved func(name string, rev Revision)

	// Conflict is called when another runner has changed the state since it was
	// read: the pass begins again.
	Conflict func(name string)

	// Applied is called after each action, with the error of the backend. The
	// action is one of the engine's Action types.
	Applied func(name string, action Action, err error)

	// End is called when the pass is over, or a call of it is stuck.
	End func(name string, p Pass)

	// Waits is called after a pass whose Blocks differ from those of the pass
	// before it.
	Waits func(name string, w Waits)

	// Skipped is called for a key of the engine that does not hold a state. It
	// is left as it is.
	Skipped func(key string, err error)
}

// Pass is the outcome of one pass, for [Trace]. It must not be changed.
type Pass struct {
	Engine  string    // its name
	Actions int       // how many were decided on
	Blocked []Block   // why nothing more happens
	Wake    time.Time // when to look again, zero for never
	Err     error     // nil when all went well
}

// VersionError says that the state of an object was saved by newer code.
type VersionError struct {
	Engine  string // the engine whose state it is
	Name    string // the object
	Key     string // where the state is in the Store
	Version int    // the version of its format
	Known   int    // the newest version that this code knows
}

// Error names the object and both versions, and says what to do.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s %s: its state (key %q) has version %d, and this code knows versions up to %d: run the newer release again, or delete the key to start over",
		e.Engine, e.Name, e.Key, e.Version, e.Known)
}

// PanicError is a panic in code that a Runner called, as an error.
type PanicError struct {
	Call  string // what was called: "load", "observe", "step", "save" or "apply"
	Value any    // what was passed to panic
	Stack []byte // of the goroutine, as runtime/debug.Stack formats it
}

// Error states the value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value when it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
