// Package removal plans what goes when an operator goes: what is deleted and in
// which order, what stays behind and how it would be deleted, and who depends on
// the operator.
//
// [Uninstall] takes an operator away for good, [Refresh] takes it away so that
// its subscription can begin again, and [Replace] says what becomes of the
// objects of a bundle when another takes its place. A plan is only a list: every
// function is pure.
package removal
