// Package eviction runs the engine of package taints on a Kubernetes API
// server: pods leave nodes with NoExecute taints when their tolerations end, and
// with a Lifecycle in the policy nodes are tainted by their conditions, zone by
// zone.
//
// It does the work of the taint eviction controller, and with a Lifecycle that
// of the node lifecycle controller: switch those off in the
// kube-controller-manager (--controllers=*,-taint-eviction-controller and
// -node-lifecycle-controller), or both act.
//
// [SetupWithManager] is all that an operator needs; [Backend] is for those with
// a driver of their own. What rights it needs stands in
// config/rbac-eviction.yaml.
package eviction
