package lifecycle

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// The shapes that the engines share, under the names of the API.
type (
	// ObjectMeta is the part of an object's metadata that the engine reads.
	ObjectMeta = fairlead.ObjectMeta
	// OwnerReference names an object that another one belongs to.
	OwnerReference = fairlead.OwnerReference
	// Node is a machine that pods run on, as the cluster sees it.
	Node = fairlead.Node
	// NodeAddress is one address of a node or machine.
	NodeAddress = fairlead.NodeAddress
	// Pod is what runs on a node.
	Pod = fairlead.Pod
	// Volume is storage that a pod mounts.
	Volume = fairlead.Volume
	// Taint keeps pods off a node.
	Taint = fairlead.Taint
	// PodDisruptionBudget limits how many pods of a set may be down because of
	// evictions.
	PodDisruptionBudget = fairlead.PodDisruptionBudget
	// IntOrString is a count or a percentage.
	IntOrString = fairlead.IntOrString
	// LabelSelector selects objects by their labels.
	LabelSelector = fairlead.LabelSelector
	// ConditionStatus is whether a condition holds.
	ConditionStatus = fairlead.ConditionStatus
)

// Finalizer is the finalizer that keeps a machine until its deletion is over.
const Finalizer = "machine.machine.openshift.io"

// FinalizerClusterAPI is that of machines of the Cluster API.
const FinalizerClusterAPI = "machine.cluster.x-k8s.io"

// Annotations on machines and nodes that the engine reads.
const (
	// ExcludeDrainAnnotation, with any value, skips the drain of a machine of the
	// Machine API.
	ExcludeDrainAnnotation = "machine.openshift.io/exclude-node-draining"
	// excludeDrainCAPI is the same in the Cluster API.
	excludeDrainCAPI = "machine.cluster.x-k8s.io/exclude-node-draining"
	// excludeVolumesCAPI, with any value, skips the wait for volumes.
	excludeVolumesCAPI = "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach"
	// DeleteAnnotation marks a machine that a scale-down should prefer. By itself
	// it deletes nothing.
	DeleteAnnotation = "machine.openshift.io/delete-machine"
)

// Machine is a host for a node, with the JSON names of the Machine API
// (machine.openshift.io/v1beta1).
type Machine struct {
	APIVersion string `json:"apiVersion,omitempty"` // machine.openshift.io/v1beta1
	Kind       string `json:"kind,omitempty"`       // Machine
	ObjectMeta `json:"metadata"`
	Spec       MachineSpec   `json:"spec"`            // the desired state
	Status     MachineStatus `json:"status,omitzero"` // the reported state
}

// MachineSpec is the desired state of a machine.
type MachineSpec struct {
	LifecycleHooks LifecycleHooks `json:"lifecycleHooks,omitzero"` // who must agree before it goes on
	ProviderID     string         `json:"providerID,omitempty"`    // the instance, as the cloud calls it
	// ProviderSpec is what the cloud needs to create the instance. Deletions
	// ignore it.
	ProviderSpec json.RawMessage `json:"providerSpec,omitempty"`
	// InfrastructureRef is the object that stands for the instance, and Bootstrap
	// how the machine was set up: only in the Cluster API.
	InfrastructureRef *ObjectRef `json:"infrastructureRef,omitempty"`
	Bootstrap         *Bootstrap `json:"bootstrap,omitempty"` // see InfrastructureRef
	// Deletion limits the stages of the deletion. Nil means the policy's limits.
	Deletion *MachineDeletion `json:"deletion,omitempty"`
}

// MachineDeletion limits the time of the stages of a deletion. For each, nil
// means the policy's limit, and 0 none.
type MachineDeletion struct {
	NodeDrainTimeoutSeconds        *int32 `json:"nodeDrainTimeoutSeconds,omitempty"`        // how long the drain may take
	NodeVolumeDetachTimeoutSeconds *int32 `json:"nodeVolumeDetachTimeoutSeconds,omitempty"` // how long to wait for volumes
	NodeDeletionTimeoutSeconds     *int32 `json:"nodeDeletionTimeoutSeconds,omitempty"`     // how long the deletion of the node is tried
}

// LifecycleHooks are the points at which a deletion waits, with the hooks it
// waits for.
type LifecycleHooks struct {
	PreDrain     []Hook `json:"preDrain,omitempty"`     // before the node is drained
	PreTerminate []Hook `json:"preTerminate,omitempty"` // before the instance is deleted
}

// Hook blocks a deletion until its owner removes it.
type Hook struct {
	Name  string `json:"name"`  // unique in its list, as in MigrateImportantApp
	Owner string `json:"owner"` // who removes it, as in clusteroperator/etcd
}

// Phase is the phase of a machine's life.
type Phase string

// The phases of the Machine API.
const (
	PhaseProvisioning Phase = "Provisioning" // there is no instance yet
	PhaseProvisioned  Phase = "Provisioned"  // there is an instance, and no node yet
	PhaseRunning      Phase = "Running"      // there is a node
	PhaseDeleting     Phase = "Deleting"     // its deletion was requested
	PhaseFailed       Phase = "Failed"       // it must be deleted
)

// MachineStatus is the reported state of a machine.
type MachineStatus struct {
	Phase        Phase         `json:"phase,omitempty"`        // the phase of its life
	NodeRef      *NodeRef      `json:"nodeRef,omitempty"`      // its node; nil while it has none
	Addresses    []NodeAddress `json:"addresses,omitempty"`    // where it is reached
	Conditions   []Condition   `json:"conditions,omitempty"`   // by type, one of each
	ErrorReason  string        `json:"errorReason,omitempty"`  // why it failed, in a word
	ErrorMessage string        `json:"errorMessage,omitempty"` // why it failed, in a sentence
	LastUpdated  *time.Time    `json:"lastUpdated,omitempty"`  // when the status was last written
	// Deletion is when the stages of the deletion began, as the controller of the Cluster
	// API reports it; nil if it does not.
	Deletion *MachineDeletionStatus `json:"deletion,omitempty"`
}

// MachineDeletionStatus is when stages of a deletion began.
type MachineDeletionStatus struct {
	NodeDrainStartTime               *time.Time `json:"nodeDrainStartTime,omitempty"`               // of the drain
	WaitForNodeVolumeDetachStartTime *time.Time `json:"waitForNodeVolumeDetachStartTime,omitempty"` // of the wait for volumes
	WaitForPreTerminateHookStartTime *time.Time `json:"waitForPreTerminateHookStartTime,omitempty"` // of the wait for preTerminate hooks
}

// NodeRef names the node of a machine.
type NodeRef struct {
	Kind string `json:"kind,omitempty"` // Node
	Name string `json:"name"`           // of the node
	UID  string `json:"uid,omitempty"`  // of the node; empty if not recorded
}

// Deleting reports whether the machine is being deleted.
func (m *Machine) Deleting() bool { return m.DeletionTimestamp != nil }

// clusterAPI reports whether the machine is from the Cluster API.
func (m *Machine) clusterAPI() bool { return strings.HasPrefix(m.APIVersion, groupClusterAPI) }

// machineAPI reports whether the machine is from the Machine API.
func (m *Machine) machineAPI() bool { return strings.HasPrefix(m.APIVersion, groupMachineAPI) }

// excludeDrain returns the annotation that excludes the machine from draining, by its
// API.
func (m *Machine) excludeDrain() string {
	if m.clusterAPI() {
		return excludeDrainCAPI
	}
	return ExcludeDrainAnnotation
}

// DrainExcluded reports whether the machine is excluded from draining by the
// annotation of its API. One of neither API is by either.
func (m *Machine) DrainExcluded() bool {
	_, is := m.Annotations[m.excludeDrain()]
	if !is && !m.machineAPI() && !m.clusterAPI() {
		_, is = m.Annotations[excludeDrainCAPI]
	}
	return is
}
