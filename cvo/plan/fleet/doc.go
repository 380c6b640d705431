// Package fleet answers for many clusters what package plan answers for one.
//
// [Survey] plans them all, those that are alike once, and tells which can go and what
// stands in the way of the others, by reason. [Compare] tells what a change, of a catalog
// for one, would do to all of them.
//
// [Choose] tells which clusters are due now: by waves of which the first ones prove the
// release for all, with a limit at a time, a time to soak, a deadline, and a stop where
// too many have failed. [Why] tells of a cluster why it is not yet due. The rules are those
// of the rollout strategies of Open Cluster Management (sdk-go,
// pkg/apis/cluster/v1alpha1/rollout.go at 3ea63fb), but for one: there, once the first
// groups are over, nothing more is begun until all that is under way elsewhere has ended,
// too; here the limit at a time holds then.
package fleet
