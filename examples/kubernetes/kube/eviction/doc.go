// Package eviction runs the engine of package taints/eviction on a Kubernetes API
// server: it evicts pods from nodes with NoExecute taints when their tolerations
// end, and with NodeLifecycle in the policy it also taints nodes by their
// conditions, zone by zone.
//
// It does the work of the taint eviction controller and, with NodeLifecycle, of
// the node lifecycle controller. Disable those in the kube-controller-manager
// (--controllers=*,-taint-eviction-controller and -node-lifecycle-controller);
// otherwise both act.
//
// An operator needs only [SetupWithManager]; use [Backend] with your own driver.
// The RBAC rules are in config/rbac-eviction.yaml.
package eviction
