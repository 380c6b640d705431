// Package group decides what operator groups mean: which namespaces the
// operators of a namespace watch, whether an operator can be a member, whether
// its APIs collide with those of operators elsewhere, and what is generated for
// it: annotations, cluster roles, copies of its CSV.
//
// An [OperatorGroup] selects namespaces ([OperatorGroup.Targets]); the operators
// installed in its own namespace watch those. [Evaluate] says what that
// means for one [Operator]: whether it fails, for which [Reason] and how to fix
// it, and how the group's list of APIs changes. [OperatorGroup.Sync] removes
// APIs from that list when their operators are gone.
//
// Types have the API's JSON names. Every function is pure and does not modify its
// arguments.
//
// The rules are those of chapter 2.4.5 of the OpenShift documentation on
// operators.
package group
