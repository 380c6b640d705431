// Package explore visits every state that an engine and a small world can
// reach, in every order of events: the engine steps, an action takes effect,
// its answer is lost, it fails, the runner crashes between any two of load,
// save and apply, a second runner acts on an old view, time passes to the next
// wake, the clock is set back, and each move of the world itself.
//
// A [Model] defines the world, how the engine is called, and what must hold:
//
//  1. Safety: Check holds in every state.
//  2. Liveness: from every state in which the runner is idle and has observed
//     everything, what happens sooner or later leads to a state at Rest; otherwise a
//     Block says what would end the wait. Steps, actions that take effect, the passing
//     of time and moves of the world that are Sure happen sooner or later; faults and
//     other moves may never happen.
//  3. Nothing waits silently: there is no cycle of states, none of them at Rest and
//     none with a Block, in which time passes in a state without a Sure move. While
//     something is owed, the runner never sleeps longer than Patience; and unless there
//     is a Block or a Sure move, it does not sleep forever, and no more time than that
//     passes, in any number of Steps, without an action or a move of the world.
//
// Worlds and states are compared by their JSON, with times relative to the present,
// or to the runner's own clock, and cut off at Horizon: earlier times count as old,
// and keep only their order among other old times. A model must therefore choose a
// Horizon beyond every duration in its policy. Numbers called "attempts" are
// counted to eight, and a model's policy must not distinguish higher ones.
//
// Violations are printed as the shortest trace. [Replay] replays a trace, so that
// a script of package golden can contain it.
//
// Only tests import this package.
package explore
