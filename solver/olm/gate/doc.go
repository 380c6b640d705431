// Package gate decides whether something that was resolved may start now: the
// replacement of an operator by a newer version ([Upgradeable]), an
// install plan ([Approve]), an update of the cluster under the operators that
// are installed ([ClusterUpdate]).
//
// A closed gate says who closed it, and what would open it. Every function is pure.
package gate
