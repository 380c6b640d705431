// Package check validates file-based catalogs of operators.
//
// [Open] opens a catalog and checks it; [Catalog] checks one that is open. Both report
// all findings at once, each with its position, a stable code and the fix, by the
// rules that every reader of catalogs relies on. A [Report] can be written as text,
// JSON or SARIF; [Report.OPM] gives the verdict of opm validate in its words. [Lint]
// gives advice beyond the rules.
package check
