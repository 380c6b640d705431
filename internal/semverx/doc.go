// Package semverx parses semantic versions and the version ranges that
// operator catalogs are written in.
//
// The range grammar is the one that the Operator Lifecycle Manager reads in
// skipRange and in package dependencies, with all its special cases, so that a
// range means the same here as on a cluster:
//
//  1. Comparisons are separated by spaces and must all hold; alternatives, of
//     which one must hold, are separated by "||" between spaces.
//  2. A comparison is an operator (<, <=, >, >=, =, ==, !, != or none, which
//     means equal) and a version of three numbers. Spaces may follow <, > and
//     =.
//  3. The last component of a version may be x. The number of components
//     determines what it covers: 1.x all of major 1, 1.2.x all of minor 1.2.
//  4. Prereleases are treated like all other versions; build metadata is
//     ignored.
//
// Forms that mean something else in other grammars are either rejected with a
// hint (^, ~, *, commas, a leading v, two components), or accepted, as the
// cluster accepts them, and reported by [Range.Lints] (hyphen ranges, !1.2.x, a
// token of one character, which is dropped).
//
// Values are immutable and safe for concurrent use.
package semverx
