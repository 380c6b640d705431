// Package explore visits every state that an engine and a small world can come
// to, in every order of what may happen: the engine steps, an action takes
// effect, its answer is lost, it fails, the runner crashes between any two of
// load, save and apply, a second runner acts on an old view, time passes to the
// next wake, the clock is set back, and each move of the world itself.
//
// A [Model] says what the world is, how an engine is asked, and what must hold:
//
//  1. Safety: Check holds in every state.
//  2. Something ends: from every state there is a way, without further faults, to
//     a state at Rest; or else a Block says what would end it.
//  3. Nothing waits in silence: there is no circle of states, none of them at Rest
//     and none with a Block, in which time passes; nobody sleeps for good without
//     a Block; and while something is owed nobody sleeps longer than Patience, and
//     no more time than that passes, in however many looks, without an action or
//     a move of the world.
//
// Worlds and states are compared by their JSON, with times taken relative to the
// present, or to the runner's own clock, and cut off at Horizon: what lies further
// back counts as old, and keeps nothing but its place among other old times. A
// model must therefore choose a Horizon beyond everything that its policy counts
// to. Numbers called "attempts" are counted to eight, and a model's policy must not
// tell higher ones apart.
//
// What is found is printed as a trace, the shortest there is. [Replay] plays a
// trace again, so that it can stand in a script of package golden.
//
// Only tests import this package.
package explore
