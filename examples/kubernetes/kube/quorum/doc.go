// Package quorum runs the engine of package lifecycle/quorum on a Kubernetes API
// server and an etcd: machines of the control plane that are being deleted are let
// go only when their member is out of the etcd, and members that wait for it are
// added and promoted.
//
// [Etcd] speaks to the members over HTTP, by the JSON gateway of etcd's API, which
// etcd serves unless it is told otherwise. [SetupWithManager] is all that an operator
// needs; [Backend] is for those with a driver of their own. What rights it needs
// stands in config/rbac-quorum.yaml.
package quorum
