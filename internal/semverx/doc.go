// Package semverx parses semantic versions and the version ranges that
// operator catalogs are written in.
//
// The range grammar is the one that the Operator Lifecycle Manager reads in
// skipRange and in package dependencies, with all its corners, so that a range
// means here what it means on a cluster:
//
//  1. Comparisons are separated by spaces and must all hold; alternatives are
//     separated by "||" between spaces, of which one must hold.
//  2. A comparison is an operator (<, <=, >, >=, =, ==, !, != or none, which
//     means equal) and a version of three numbers. Spaces may follow <, > and
//     =.
//  3. The last component of a version may be x. The count of components
//     decides what it spans: 1.x all of major 1, 1.2.x all of minor 1.2.
//  4. Prereleases take part like every other version; build metadata is
//     ignored.
//
// What a reader of other grammars is likely to trip over is either refused
// with a hint (^, ~, *, commas, a leading v, two components) or accepted, as
// the cluster accepts it, and told by [Range.Lints] (hyphen ranges, !1.2.x, a
// token of one character, which is dropped).
//
// Values are immutable and safe for concurrent use.
package semverx
