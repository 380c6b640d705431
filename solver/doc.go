// Package solver decides which things can be selected together, finds the
// selection that is preferred, and says why where there is none.
//
// The things are variables of a [Problem]: package versions, operator bundles,
// time slots. The constraints say what is required, what is forbidden, what
// needs one of which others (in an order of preference), what excludes what, and
// of which sets only so many can be had. [Solve] returns
//
//   - the best selection by a rule that is documented and depends on nothing but
//     the problem; and every answer was checked against every constraint;
//   - or an [*UnsatError], which explains itself: a minimal core of constraints
//     that clash, told as a tree that people can read, and fixes that were tried;
//   - or an [*IncompleteError] when the context ended or a bound was met, with
//     the best selection so far and how much of it is proven.
//
// A [Solution] says of what is selected why, and of what is not why not. Its
// [Certificate] proves that it is the best one to [Check], which trusts nothing
// that found it. A [Session] answers what-if questions about one problem, with
// what it learned from the ones before. [Minimize] puts criteria before the rule,
// and its [Optimum] has a certificate for [CheckOptimum]. A [Lazy] solves what a
// [Source] tells only when it is asked.
//
// Selections are found by picking greedily, with unit propagation to refuse what
// cannot be; a SAT solver is asked only where that ends in a dead end, and only
// about the independent piece of the problem that the dead end is in.
package solver
