// Package fairlead is the root of a library of decision engines for running
// software on clusters. It holds what all engines share.
//
// # The engines
//
//   - solver: which set of things satisfies a problem best, or exactly why none
//     does; solver/rule: CEL rules over typed properties; solver/olm: which
//     operator bundles to install or update, and in which steps.
//   - catalog: what a file-based catalog of operators contains, whether it is
//     valid, and which updates it offers.
//   - lifecycle: what may happen next to a machine that is being deleted.
//   - taints: which pod may be placed on, or must leave, which node, and when.
//   - cvo: how a cluster moves from one release to the next.
//
// Import the one you need. You bring the storage, the clock and the client of
// your cluster: nothing here depends on Kubernetes' client code.
//
// # One shape for every controller
//
//	Step(state, world, now, policy) -> Decision{State, Actions, Blocked, Wake}
//
// Step is a pure function over plain values:
//
//  1. It reads no clock and does no I/O. Time is an argument and effects are
//     data: Actions is what to do now, each valid on its own once State is saved.
//  2. Equal inputs give equal outputs, byte for byte.
//  3. Blocked says why nothing (more) happens: each [Block] names what waits, for
//     what, since when, who is responsible, and what would end the wait.
//  4. Wake is when to look again. Zero means that only an event can change
//     anything.
//
// A [Runner] drives Step. It loads the state, observes the world, steps, saves, and
// only then applies the actions; then it sleeps until Wake or a trigger. An action
// may be applied again after a crash, so actions are idempotent, and their effects
// are observed, never assumed. [RunnerOptions] documents what every runner
// guarantees. Runner.Reconcile makes one such pass, so that one line embeds an
// engine in a reconciler of your own.
//
// # An engine of your own
//
// The root package has the code that every engine needs, so that a new engine
// consists only of its rules. [Engine] is what a Runner drives; [Action] and
// [Decision] are its types. [Ledger] tracks the attempts and waits of one Step: what
// is due again, since when something has been waited for, and when to look again.
// [Outcome] is the result of an attempt, [Backoff] the delay before the next, and
// [Past] handles clocks that are set back.
//
// # Clock and Store
//
// [Clock] tells a runner the time. Any type with Now fits, and a [Sleeper] can also
// sleep in its own time. [Store] keeps an engine's small state, as bytes, by
// compare-and-swap: [MemStore] in memory, [FileStore] in a directory, or one of your
// own, which [CheckStore] tests.
package fairlead
