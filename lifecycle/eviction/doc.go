// Package eviction decides what becomes of requests to evict a pod: the rules of
// the coordinator of Kubernetes' EvictionRequest (KEP 4563, alpha in 1.37, as of
// commit 64765b4 of kubernetes/enhancements) as a pure function.
//
// A requester makes an EvictionRequest for a pod. All requests for one pod share one
// Eviction, which goes through the responders that the pod names, one after the
// other, and last the one that calls the eviction API. Who is active shows that it
// works by a heartbeat; whoever shows none for twenty minutes is passed over. If
// all requesters withdraw, the Eviction is canceled.
//
// [Coordinate] takes what is there and returns how it is to be. Its types decode
// what `kubectl get evictionrequests,evictions,pods -o json` prints.
package eviction
