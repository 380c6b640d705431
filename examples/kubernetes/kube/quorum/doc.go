// Package quorum runs the engine of package lifecycle/quorum on a Kubernetes API
// server and an etcd. It releases control plane machines that are being deleted
// only after their member has been removed from etcd, and it adds and promotes new
// members.
//
// [Etcd] talks to the members over HTTP, by the JSON gateway of etcd's API, which is
// enabled by default. An operator needs only [SetupWithManager]; use [Backend] with
// your own driver. The RBAC rules are in config/rbac-quorum.yaml.
package quorum
