// Package fleet answers for many clusters what package plan answers for one.
//
// [Survey] plans all clusters, equal situations only once, and lists which can be
// updated and what prevents the others, by reason. [Compare] shows what a change, of a
// catalog for example, would do to all of them.
//
// [Choose] selects the clusters that are due now: in waves, of which the first must
// succeed before the rest, with a limit at a time, a soak time, a deadline, and a stop
// when too many fail. [Why] explains why a cluster is not due. The rules are those of
// the rollout strategies of Open Cluster Management (sdk-go,
// pkg/apis/cluster/v1alpha1/rollout.go at 3ea63fb), with one exception: there, once the
// first groups have finished, nothing more starts until everything under way elsewhere
// has ended, too; here only the limit at a time holds then.
package fleet
