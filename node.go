package fairlead

// Node is a machine that pods run on.
type Node struct {
	TypeMeta
	ObjectMeta `json:"metadata"` // its name and the other metadata
	Spec       NodeSpec          `json:"spec"`   // the desired state
	Status     NodeStatus        `json:"status"` // the reported state
}

// Condition returns the condition of a type, such as "Ready", or nil. It points into
// the node.
func (n *Node) Condition(kind string) *NodeCondition {
	for i := range n.Status.Conditions {
		if n.Status.Conditions[i].Type == kind {
			return &n.Status.Conditions[i]
		}
	}
	return nil
}

// NotReady returns the Ready condition of a node that reports that it is not ready, or that does not
// report any more. It returns nil for a node that is ready, and for one without the condition, of
// which nothing is known. It points into the node.
func (n *Node) NotReady() *NodeCondition {
	if c := n.Condition("Ready"); c != nil && c.Status != ConditionTrue {
		return c
	}
	return nil
}

// ControlPlane reports whether a node has the role of the control plane, by either of its names.
func (n *Node) ControlPlane() bool {
	_, is := n.Labels["node-role.kubernetes.io/control-plane"]
	_, was := n.Labels["node-role.kubernetes.io/master"]
	return is || was
}

// NodeSpec is the desired state of a node.
type NodeSpec struct {
	ProviderID    string  `json:"providerID,omitempty"`    // the instance, as the cloud calls it
	Unschedulable bool    `json:"unschedulable,omitempty"` // cordoned: no new pods
	Taints        []Taint `json:"taints,omitempty"`        // in the order of the API
}

// NodeStatus is the reported state of a node.
type NodeStatus struct {
	Conditions      []NodeCondition  `json:"conditions,omitempty"`      // one of each type
	Addresses       []NodeAddress    `json:"addresses,omitempty"`       // where it is reached
	VolumesAttached []AttachedVolume `json:"volumesAttached,omitempty"` // what must be detached before the node is deleted
	NodeInfo        NodeInfo         `json:"nodeInfo,omitzero"`         // what the kubelet reports about itself
	// Allocatable is what pods may request in total, by resource, in the API's
	// quantities; nil if the node has not reported it.
	Allocatable map[string]string `json:"allocatable,omitempty"`
}

// NodeAddress is one address of a node.
type NodeAddress struct {
	Type    string `json:"type"`    // InternalIP, ExternalIP, Hostname, InternalDNS or ExternalDNS
	Address string `json:"address"` // an IP address or a name
}

// AttachedVolume is a volume that is attached to a node.
type AttachedVolume struct {
	Name       string `json:"name"`       // unique among all volumes
	DevicePath string `json:"devicePath"` // where it appears
}

// NodeInfo is what the kubelet reports about itself.
type NodeInfo struct {
	KubeletVersion string `json:"kubeletVersion,omitempty"` // its version
}
