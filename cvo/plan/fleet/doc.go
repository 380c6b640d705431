// Package fleet answers for many clusters what package plan answers for one.
//
// [Survey] plans the update of every cluster, once for clusters whose situations are
// equal. It lists which clusters can be updated, and groups the others by what prevents
// their update. [Compare] shows what a change would do to all of them, of a catalog for
// example.
//
// [Choose] returns the clusters that are due now. Clusters are updated in waves, and the
// first waves must succeed before the rest begins. A [Strategy] limits how many clusters
// are updated at a time and how many may fail, and sets a deadline and a soak time. [Why]
// explains why a cluster is not due.
//
// The rules are those of the rollout strategies of Open Cluster Management (sdk-go,
// pkg/apis/cluster/v1alpha1/rollout.go at 3ea63fb), with one exception. There, after the
// first groups have finished, no cluster starts until all that are under way elsewhere
// have ended. Here only the limit at a time applies then.
package fleet
