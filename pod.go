package fairlead

import "time"

// Pod is what runs on a node.
type Pod struct {
	TypeMeta
	ObjectMeta `json:"metadata"` // its name and what else all objects have
	Spec       PodSpec           `json:"spec"`   // the desired state
	Status     PodStatus         `json:"status"` // the reported state
}

// PodSpec is what is asked of a pod.
type PodSpec struct {
	NodeName                      string            `json:"nodeName,omitempty"`                      // where it is bound; empty while it waits for a node
	NodeSelector                  map[string]string `json:"nodeSelector,omitempty"`                  // labels that its node must have
	Tolerations                   []Toleration      `json:"tolerations,omitempty"`                   // in the order of the API
	HostNetwork                   bool              `json:"hostNetwork,omitempty"`                   // uses the node's network
	Priority                      *int32            `json:"priority,omitempty"`                      // higher is more important; nil means 0
	PriorityClassName             string            `json:"priorityClassName,omitempty"`             // where the priority comes from
	TerminationGracePeriodSeconds *int64            `json:"terminationGracePeriodSeconds,omitempty"` // nil means 30
	InitContainers                []Container       `json:"initContainers,omitempty"`                // run to their ends first
	Containers                    []Container       `json:"containers,omitempty"`                    // what runs
	Volumes                       []Volume          `json:"volumes,omitempty"`                       // what they may mount
	Affinity                      *Affinity         `json:"affinity,omitempty"`                      // which nodes, and near which pods; nil asks nothing
	// TopologySpreadConstraints say how evenly pods like this one are to be spread.
	TopologySpreadConstraints []SpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	Resources                 *Resources         `json:"resources,omitempty"` // of the pod as a whole; nil if only its containers ask
	Overhead                  map[string]string  `json:"overhead,omitempty"`  // what running it costs on top, by resource
}

// Container is one program of a pod.
type Container struct {
	Name      string          `json:"name"`               // unique in its pod
	Resources Resources       `json:"resources,omitzero"` // what it gets
	Ports     []ContainerPort `json:"ports,omitempty"`    // where it listens
	// RestartPolicy is Always for an init container that keeps running beside the
	// others; empty for the rest.
	RestartPolicy string `json:"restartPolicy,omitempty"`
}

// ContainerPort is a port that a container listens on.
type ContainerPort struct {
	ContainerPort int32  `json:"containerPort"`      // of the container
	HostPort      int32  `json:"hostPort,omitempty"` // of the node; 0 takes none
	HostIP        string `json:"hostIP,omitempty"`   // the address that HostPort is taken on; empty means all
	Protocol      string `json:"protocol,omitempty"` // TCP, UDP or SCTP; empty means TCP
}

// Resources is what a container is promised and what it may use at most, in
// the API's quantities.
type Resources struct {
	Limits   map[string]string `json:"limits,omitempty"`   // what it may use, by resource
	Requests map[string]string `json:"requests,omitempty"` // what it is promised, by resource
}

// Volume is storage that a pod mounts. Only those of its sources are kept that
// matter to a drain.
type Volume struct {
	Name                  string       `json:"name"`                            // unique in its pod
	EmptyDir              *struct{}    `json:"emptyDir,omitempty"`              // lives and dies with the pod
	PersistentVolumeClaim *ClaimSource `json:"persistentVolumeClaim,omitempty"` // outlives it
}

// ClaimSource names the claim that a volume stands for.
type ClaimSource struct {
	ClaimName string `json:"claimName"` // in the pod's namespace
}

// PodPhase is how far a pod is.
type PodPhase string

// The phases of the API.
const (
	PodPending   PodPhase = "Pending"
	PodRunning   PodPhase = "Running"
	PodSucceeded PodPhase = "Succeeded" // over, and well
	PodFailed    PodPhase = "Failed"    // over, and not well
	PodUnknown   PodPhase = "Unknown"
)

// PodStatus is what is reported of a pod.
type PodStatus struct {
	Phase      PodPhase    `json:"phase,omitempty"`      // how far it is
	Conditions []Condition `json:"conditions,omitempty"` // one of each type
	Reason     string      `json:"reason,omitempty"`     // why it is in that phase, in a word
	QOSClass   string      `json:"qosClass,omitempty"`   // Guaranteed, Burstable or BestEffort
	StartTime  *time.Time  `json:"startTime,omitempty"`  // when its node took it on; nil before
}

// Finished reports whether the pod has run to its end, well or not.
func (p *Pod) Finished() bool {
	return p.Status.Phase == PodSucceeded || p.Status.Phase == PodFailed
}

// Ready reports whether the pod says that it can serve.
func (p *Pod) Ready() bool {
	c := FindCondition(p.Status.Conditions, "Ready")
	return c != nil && c.Status == ConditionTrue
}
