// Package fairlead is the root of a library of decision engines for running
// software on clusters, and holds what all of them share.
//
// # The engines
//
//   - solver: which set of things satisfies a problem, best first, or exactly
//     why none does; solver/rule: CEL rules over typed properties; solver/olm:
//     which operator bundles to install or update, and in which steps.
//   - catalog: what a file-based catalog of operators holds, whether it is
//     valid, and which updates it offers.
//   - lifecycle: what may happen next to a machine under deletion.
//   - taints: which pod may be placed on, or must leave, which node, and when.
//   - cvo: how a cluster moves from one release to the next.
//
// Import the one you need. You bring the storage, the clock and the client of
// your cluster: nothing here knows Kubernetes' client code.
//
// # One shape for every controller
//
//	Step(state, world, now, policy) -> Decision{State, Actions, Blocked, Wake}
//
// Step is a pure function over plain values:
//
//  1. It reads no clock and does no I/O. Time is an argument, effects are data:
//     Actions is what to do now, each valid by itself once State is saved.
//  2. Equal inputs give equal outputs, byte for byte.
//  3. Blocked says why nothing (more) happens: each [Block] names what waits,
//     for what, who owns that, since when, and what would end it.
//  4. Wake is the instant at which to look again. Zero means that only an
//     event can change anything.
//
// A [Runner] drives Step: load the state, observe
// the world, step, save, and only then apply the actions; then sleep until
// Wake or a trigger. An action may be applied again after a crash, so actions
// are idempotent, and what an action did is observed, never assumed.
// [RunnerOptions] states what every runner promises. Runner.Reconcile is one
// such pass, which makes an engine one line of a reconciler of your own.
//
// # An engine of your own
//
// What the engines repeat stands here, so that another one is its rules and
// nothing else: [Engine] is what a Runner drives, [Action] and [Decision] are its
// shape, [Ledger] keeps the account of one Step (what is due again, what is waited
// for since when, when to look again), [Outcome] is what an attempt came to,
// [Backoff] how long to leave it alone, and [Past] the rule for clocks that are set
// back.
//
// # The two seams
//
// [Clock] tells a runner the time; any type with Now fits, and a [Sleeper] can
// be waited on in its own time. [Store] keeps an engine's small state, as
// bytes, by compare-and-swap: [MemStore] in memory, [FileStore] in a
// directory, or one of your own, which [CheckStore] examines.
package fairlead
