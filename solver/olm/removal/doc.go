// Package removal plans the removal of an operator: what to delete and in which order,
// what stays and how to delete that, and who depends on the operator.
//
// [Uninstall] removes an operator for good, [Refresh] removes it so that its
// subscription can start over, and [Replace] says what happens to the objects of a
// bundle when another takes its place. A plan is only a list: every function is pure.
package removal
