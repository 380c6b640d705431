// Package solver selects things under constraints: it finds the preferred
// selection, or explains why none exists.
//
// The things are the variables of a [Problem]: package versions, operator bundles,
// time slots. Constraints say what is required, what is forbidden, what depends on
// one of which others (in order of preference), what conflicts, and how many of a
// set may be selected. [Solve] returns
//
//   - the best selection, by a documented rule that depends only on the problem;
//     every answer has been checked against every constraint;
//   - or an [*UnsatError], which explains itself: a minimal core of constraints
//     that conflict, written as a tree, and fixes that were tried;
//   - or an [*IncompleteError] if the context ended or a limit was reached, with
//     the best selection so far and how much of it is proven.
//
// A [Solution] says why each variable is selected or not. Its [Certificate]
// proves that the selection is the best; [Check] verifies it and trusts nothing
// that found it. A [Session] answers what-if questions about one problem and
// reuses what it learned from earlier ones. [Minimize] puts criteria before the
// rule, and its [Optimum] has a certificate for [CheckOptimum]. A [Lazy] solves
// a problem that a [Source] reveals only when asked: examples/plugins, a plugin manager,
// reads a registry over HTTP with it.
//
// The solver picks greedily, and unit propagation rules out impossible choices. Only at a
// dead end does it search, and only in the independent part of the problem that contains
// the dead end: in the documented order, and when that meets conflicts, for any selection,
// which an unsatisfiable problem has none of in whatever order. Demands that compete for
// the room of limitations are counted.
//
// Two engines answer. The search of this package finds selections and refutations, because
// it knows the order, counts limitations instead of encoding them, and logs proofs. gini, a
// SAT solver, is asked which constraints a contradiction needs: for the minimal cores that
// are documented, for fixes, and for WhyNot. There one problem is asked about hundreds of
// times under other assumptions, and gini, which keeps what it learned, is the faster one,
// unless hundreds of constraints are needed; then the search of this package goes on.
package solver
