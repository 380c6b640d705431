// Package kube connects the engines of fairlead to a Kubernetes API server:
//
//   - [Store] keeps their state in ConfigMaps, with the API server's
//     resourceVersion as Revision and a real Watch.
//   - [Pod], [Node], [Taints] and the others convert what client-go returns
//     into what the engines read; [FromTaints] and its like convert back.
//     [Decode] does so for every other kind, by its JSON.
//   - [Reconciler] makes a controller-runtime reconciler of an engine's Runner:
//     Decision.Wake becomes RequeueAfter, what blocks becomes events.
//   - [Metrics] turns the Trace of the Runners into Prometheus metrics.
//
// The backends stand in packages of their own, so that who embeds one engine
// does not link the others: kube/machines (lifecycle), kube/eviction (taints),
// kube/clusterversion (cvo), kube/operators (solver/olm/install), kube/extension
// (solver/olm/extension) and others. [Objects] reads and writes for those that
// know the kinds of their objects at run time only.
package kube
