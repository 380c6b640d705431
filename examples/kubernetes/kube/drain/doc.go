// Package drain takes nodes out of service on a Kubernetes API server, with the
// engine of lifecycle/drain. Whoever needs an empty node creates a DrainRequest,
// and deletes or cancels it when the work is done.
//
//	apiVersion: fairlead.io/v1alpha1
//	kind: DrainRequest
//	metadata: {name: disk-of-n1}
//	spec: {nodeName: n1, requester: jane@example.com, why: a new disk, purpose: Maintenance}
//
// The node is cordoned and its pods are evicted; status.phase is Drained when it
// is empty. When the last request for a node ends, the node is uncordoned, if it
// was cordoned here. The CRD is config/crd/drainrequests.yaml, and the RBAC rules
// are config/rbac-drain.yaml.
//
// spec.fenced is for dead nodes: it confirms that the node is powered off, or cut
// off from storage and network, and stays that way. The node then gets the taint
// node.kubernetes.io/out-of-service, and Kubernetes deletes its pods by force and
// detaches their volumes. The controller never sets spec.fenced itself.
package drain
