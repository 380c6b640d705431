package fairlead

import "time"

// Pod is what runs on a node.
type Pod struct {
	TypeMeta
	ObjectMeta `json:"metadata"` // its name and the other metadata
	Spec       PodSpec           `json:"spec"`   // the desired state
	Status     PodStatus         `json:"status"` // the reported state
}

// PodSpec is the desired state of a pod.
type PodSpec struct {
	NodeName                      string            `json:"nodeName,omitempty"`                      // where it is bound; empty while it waits for a node
	SchedulerName                 string            `json:"schedulerName,omitempty"`                 // which scheduler looks for its node; empty means default-scheduler
	NodeSelector                  map[string]string `json:"nodeSelector,omitempty"`                  // labels that its node must have
	Tolerations                   []Toleration      `json:"tolerations,omitempty"`                   // in the order of the API
	HostNetwork                   bool              `json:"hostNetwork,omitempty"`                   // uses the node's network
	Priority                      *int32            `json:"priority,omitempty"`                      // higher is more important; nil means 0
	PriorityClassName             string            `json:"priorityClassName,omitempty"`             // where the priority comes from
	PreemptionPolicy              string            `json:"preemptionPolicy,omitempty"`              // Never, or PreemptLowerPriority, which empty means
	TerminationGracePeriodSeconds *int64            `json:"terminationGracePeriodSeconds,omitempty"` // nil means 30
	InitContainers                []Container       `json:"initContainers,omitempty"`                // run to completion first
	Containers                    []Container       `json:"containers,omitempty"`                    // what runs
	Volumes                       []Volume          `json:"volumes,omitempty"`                       // what they may mount
	Affinity                      *Affinity         `json:"affinity,omitempty"`                      // which nodes, and near which pods; nil requires nothing
	// TopologySpreadConstraints say how evenly pods like this one are spread.
	TopologySpreadConstraints []SpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	Resources                 *Resources         `json:"resources,omitempty"` // of the pod as a whole; nil if only its containers state any
	Overhead                  map[string]string  `json:"overhead,omitempty"`  // what running it costs in addition, by resource
	// ResourceClaims are devices that the pod requests by claims, which only the
	// scheduler can allocate.
	ResourceClaims []PodResourceClaim `json:"resourceClaims,omitempty"`
	// SchedulingGates keep the scheduler from looking for a node until their owners have
	// removed them.
	SchedulingGates []SchedulingGate `json:"schedulingGates,omitempty"`
}

// SchedulingGate is one of the reasons why a pod is not to be scheduled yet.
type SchedulingGate struct {
	Name string `json:"name"` // unique in its pod; a domain names the owner
}

// PreemptNever is the preemption policy of a pod for which no other is evicted.
const PreemptNever = "Never"

// PodResourceClaim is one of the claims of a pod for devices.
type PodResourceClaim struct {
	Name string `json:"name"` // unique in its pod
}

// Container is one program of a pod.
type Container struct {
	Name      string          `json:"name"`               // unique in its pod
	Resources Resources       `json:"resources,omitzero"` // its requests and limits
	Ports     []ContainerPort `json:"ports,omitempty"`    // where it listens
	// RestartPolicy is Always for a sidecar, an init container that keeps running;
	// empty for the rest.
	RestartPolicy string `json:"restartPolicy,omitempty"`
}

// ContainerPort is a port that a container listens on.
type ContainerPort struct {
	Name          string `json:"name,omitempty"`     // by which services find it; empty for none
	ContainerPort int32  `json:"containerPort"`      // of the container
	HostPort      int32  `json:"hostPort,omitempty"` // of the node; 0 for none
	HostIP        string `json:"hostIP,omitempty"`   // the address that HostPort is taken on; empty means all
	Protocol      string `json:"protocol,omitempty"` // TCP, UDP or SCTP; empty means TCP
}

// Resources is what a container requests and its limits, in the API's quantities.
type Resources struct {
	Limits   map[string]string `json:"limits,omitempty"`   // what it may use, by resource
	Requests map[string]string `json:"requests,omitempty"` // what it requests, by resource
}

// Volume is storage that a pod mounts. Only the sources that matter to a drain are
// kept.
type Volume struct {
	Name                  string       `json:"name"`                            // unique in its pod
	EmptyDir              *struct{}    `json:"emptyDir,omitempty"`              // deleted with the pod
	PersistentVolumeClaim *ClaimSource `json:"persistentVolumeClaim,omitempty"` // outlives it
}

// ClaimSource names the claim of a volume.
type ClaimSource struct {
	ClaimName string `json:"claimName"` // in the pod's namespace
}

// PodPhase is the phase of a pod's life.
type PodPhase string

// The phases of the API.
const (
	PodPending   PodPhase = "Pending"
	PodRunning   PodPhase = "Running"
	PodSucceeded PodPhase = "Succeeded" // ended, all containers successfully
	PodFailed    PodPhase = "Failed"    // ended, at least one container with a failure
	PodUnknown   PodPhase = "Unknown"
)

// PodStatus is the reported state of a pod.
type PodStatus struct {
	Phase      PodPhase    `json:"phase,omitempty"`      // the phase of its life
	Conditions []Condition `json:"conditions,omitempty"` // one of each type
	Reason     string      `json:"reason,omitempty"`     // why it is in that phase, in a word
	Message    string      `json:"message,omitempty"`    // why, in a sentence
	QOSClass   string      `json:"qosClass,omitempty"`   // Guaranteed, Burstable or BestEffort
	StartTime  *time.Time  `json:"startTime,omitempty"`  // when its kubelet accepted it; nil before
	// NominatedNodeName is the node on which the scheduler makes room for the pod by
	// preemption; empty if it does not.
	NominatedNodeName string `json:"nominatedNodeName,omitempty"`
	// ContainerStatuses say what its containers do, and InitContainerStatuses its init
	// containers.
	ContainerStatuses     []ContainerStatus `json:"containerStatuses,omitempty"`
	InitContainerStatuses []ContainerStatus `json:"initContainerStatuses,omitempty"` // see ContainerStatuses
}

// ContainerStatus is what a container does.
type ContainerStatus struct {
	Name      string         `json:"name"`               // as in the spec
	State     ContainerState `json:"state,omitzero"`     // now
	LastState ContainerState `json:"lastState,omitzero"` // how it ended last
	// RestartCount is how often it has been started again.
	RestartCount int32 `json:"restartCount,omitempty"`
}

// ContainerState is why a container does not run. The zero value means that it runs, or that
// nothing is known.
type ContainerState struct {
	Waiting    *ContainerReason `json:"waiting,omitempty"`    // why it has not begun
	Terminated *ContainerReason `json:"terminated,omitempty"` // how it ended
}

// ContainerReason says why a container does not run.
type ContainerReason struct {
	Reason   string `json:"reason,omitempty"`   // a word
	Message  string `json:"message,omitempty"`  // a sentence
	ExitCode int    `json:"exitCode,omitempty"` // of one that ended
	// FinishedAt is when it ended; zero if it is not known.
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

// Finished reports whether the pod has ended, successfully or not.
func (p *Pod) Finished() bool {
	return p.Status.Phase == PodSucceeded || p.Status.Phase == PodFailed
}

// Ready reports whether the pod's condition Ready is true.
func (p *Pod) Ready() bool {
	c := FindCondition(p.Status.Conditions, "Ready")
	return c != nil && c.Status == ConditionTrue
}
