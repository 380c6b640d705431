// Package check judges file-based catalogs of operators.
//
// [Open] opens a catalog and judges it; [Catalog] judges one that is open. Both
// find everything that is wrong at once, each finding with its place, a stable
// code and the way out, by the rules that every reader of catalogs relies on. A
// [Report] is written as text, JSON or SARIF; [Report.OPM] gives the verdict of
// opm validate in its words. [Lint] gives advice beyond the rules.
package check
