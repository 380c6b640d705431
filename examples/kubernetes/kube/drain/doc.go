// Package drain takes nodes out of service on a Kubernetes API server, with the
// engine of lifecycle/drain: whoever needs a node empty makes a DrainRequest, and
// deletes it, or cancels it, when the work is done.
//
//	apiVersion: fairlead.io/v1alpha1
//	kind: DrainRequest
//	metadata: {name: disk-of-n1}
//	spec: {nodeName: n1, requester: jane@example.com, why: a new disk, purpose: Maintenance}
//
// The node is cordoned and its pods are evicted; status.phase says Drained when
// it is empty. The last request for a node that ends uncordons it, if it was
// cordoned here. The definition is config/crd/drainrequests.yaml, the rights are
// config/rbac-drain.yaml.
//
// spec.fenced is for nodes that are dead: who sets it vouches that the node is
// powered off, or cut off from storage and network, and stays so. Its node gets
// the taint node.kubernetes.io/out-of-service then, and Kubernetes deletes its
// pods by force and detaches their volumes. Nothing sets it by itself.
package drain
