// Package gate decides whether something may start now that was resolved
// already: the replacement of an operator by a newer version ([Upgradeable]), an
// install plan ([Approve]), an update of the cluster under the operators that
// are installed ([ClusterUpdate]).
//
// A gate that is shut says who shut it, and what would open it. Every function
// is pure.
package gate
