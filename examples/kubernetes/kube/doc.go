// Package kube connects the engines of fairlead to a Kubernetes API server:
//
//   - [Store] keeps their state in ConfigMaps, with the API server's
//     resourceVersion as Revision and a real Watch.
//   - [Pod], [Node], [Taints] and the others convert what client-go returns
//     into what the engines read; [FromTaints] and others convert back.
//     [Decode] converts objects of every other kind through their JSON.
//   - [Reconciler] turns an engine's Runner into a controller-runtime
//     reconciler: Decision.Wake becomes RequeueAfter, blocks become events.
//   - [Metrics] turns the Trace of the Runners into Prometheus metrics.
//
// Each backend has its own package, so that a program that embeds one engine
// does not link the others: kube/machines (lifecycle), kube/eviction (taints),
// kube/clusterversion (cvo), kube/operators (solver/olm/install), kube/extension
// (solver/olm/extension) and others. [Objects] reads and writes objects whose
// kinds are known only at run time.
package kube
