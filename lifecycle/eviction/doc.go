// Package eviction decides on requests to evict a pod: the rules of the coordinator
// of Kubernetes' EvictionRequest (KEP 4563, alpha in 1.37, as of commit 64765b4 of
// kubernetes/enhancements) as a pure function.
//
// A requester creates an EvictionRequest for a pod. All requests for one pod share
// one Eviction, which goes through the responders that the pod names, one after the
// other, and finally the one that calls the eviction API. The active responder sends
// heartbeats; one that sends none for twenty minutes is skipped. If all requesters
// withdraw, the Eviction is canceled.
//
// [Coordinate] takes the current objects and returns the desired ones. Its types
// decode the output of `kubectl get evictionrequests,evictions,pods -o json`.
package eviction
