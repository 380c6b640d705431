package snapshot

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm/crd"
)

// Object is what every object has: enough to say why it does not go away, and what it
// reports about itself.
type Object struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		Finalizers []string `json:"finalizers,omitempty"` // of a Namespace
		Paused     bool     `json:"paused,omitempty"`     // of a Cluster of the Cluster API
		Username   string   `json:"username,omitempty"`   // of a CertificateSigningRequest: who made it
		SignerName string   `json:"signerName,omitempty"` // of a CertificateSigningRequest: who is to sign it
	} `json:"spec"` // what is read of the desired state
	Status struct {
		Phase      string               `json:"phase,omitempty"`      // if it has one, as text
		Conditions []fairlead.Condition `json:"conditions,omitempty"` // by type
	} `json:"status"` // the reported state
}

// Workload is a Deployment, ReplicaSet, StatefulSet, DaemonSet or ReplicationController.
type Workload struct {
	fairlead.TypeMeta
	fairlead.ObjectMeta `json:"metadata"`
	Spec                WorkloadSpec   `json:"spec"`   // the desired state
	Status              WorkloadStatus `json:"status"` // the reported state
}

// WorkloadSpec is the desired state of a workload.
type WorkloadSpec struct {
	Replicas *int `json:"replicas,omitempty"` // nil means 1; a DaemonSet has none
	Paused   bool `json:"paused,omitempty"`   // of a Deployment: it is not rolled out
	Template struct {
		fairlead.ObjectMeta `json:"metadata"`
		Spec                fairlead.PodSpec `json:"spec"` // of its pods
	} `json:"template"` // its pods
	// VolumeClaimTemplates are the claims that each pod of a StatefulSet has.
	VolumeClaimTemplates []struct {
		fairlead.ObjectMeta `json:"metadata"`
	} `json:"volumeClaimTemplates,omitempty"`
}

// WorkloadStatus is the reported state of a workload.
type WorkloadStatus struct {
	ObservedGeneration     int64                `json:"observedGeneration,omitempty"`     // of the spec that it is for
	Replicas               int                  `json:"replicas,omitempty"`               // pods that exist
	ReadyReplicas          int                  `json:"readyReplicas,omitempty"`          // those that are ready
	UpdatedReplicas        int                  `json:"updatedReplicas,omitempty"`        // those of the current template
	AvailableReplicas      int                  `json:"availableReplicas,omitempty"`      // those that have been ready long enough
	UnavailableReplicas    int                  `json:"unavailableReplicas,omitempty"`    // those that are missing or not available
	DesiredNumberScheduled int                  `json:"desiredNumberScheduled,omitempty"` // of a DaemonSet: nodes that should run its pod
	CurrentNumberScheduled int                  `json:"currentNumberScheduled,omitempty"` // of a DaemonSet: nodes that should and do
	NumberReady            int                  `json:"numberReady,omitempty"`            // of a DaemonSet: nodes with a ready pod
	NumberMisscheduled     int                  `json:"numberMisscheduled,omitempty"`     // of a DaemonSet: nodes that run its pod and should not
	NumberUnavailable      int                  `json:"numberUnavailable,omitempty"`      // of a DaemonSet: nodes that should, without an available pod
	Conditions             []fairlead.Condition `json:"conditions,omitempty"`             // by type
}

// Job is a Job, such as one that unpacks a bundle.
type Job struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		BackoffLimit          *int   `json:"backoffLimit,omitempty"`          // how often it is tried again
		ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"` // how long it may take
	} `json:"spec"` // the desired state
	Status struct {
		Active         int                  `json:"active,omitempty"`         // pods that run
		Succeeded      int                  `json:"succeeded,omitempty"`      // pods that succeeded
		Failed         int                  `json:"failed,omitempty"`         // pods that failed
		StartTime      *time.Time           `json:"startTime,omitempty"`      // when it began
		CompletionTime *time.Time           `json:"completionTime,omitempty"` // when it succeeded
		Conditions     []fairlead.Condition `json:"conditions,omitempty"`     // Complete or Failed
	} `json:"status"` // the reported state
}

// Event is something that was noticed about an object.
type Event struct {
	fairlead.ObjectMeta `json:"metadata"`

	InvolvedObject ObjectReference `json:"involvedObject"`          // what it is about
	Regarding      ObjectReference `json:"regarding,omitzero"`      // the same, in events.k8s.io
	Reason         string          `json:"reason,omitempty"`        // a word for programs
	Message        string          `json:"message,omitempty"`       // a sentence
	Note           string          `json:"note,omitempty"`          // the same, in events.k8s.io
	Type           string          `json:"type,omitempty"`          // Normal or Warning
	Count          int             `json:"count,omitempty"`         // how often
	FirstTimestamp time.Time       `json:"firstTimestamp,omitzero"` // when it was noticed first
	LastTimestamp  time.Time       `json:"lastTimestamp,omitzero"`  // when it was noticed last
	EventTime      time.Time       `json:"eventTime,omitzero"`      // when it was noticed, of newer events
	Series         struct {
		Count            int       `json:"count,omitempty"`           // how often
		LastObservedTime time.Time `json:"lastObservedTime,omitzero"` // when last
	} `json:"series,omitzero"` // repetitions of newer events
	Source struct {
		Component string `json:"component,omitempty"` // who noticed it
		Host      string `json:"host,omitempty"`      // on which node
	} `json:"source,omitzero"` // who noticed it
}

// Object returns what an event of either API is about.
func (e *Event) Object() ObjectReference {
	if e.InvolvedObject == (ObjectReference{}) {
		return e.Regarding
	}
	return e.InvolvedObject
}

// Last returns when the event was noticed last.
func (e *Event) Last() time.Time {
	last := e.LastTimestamp
	for _, t := range []time.Time{e.EventTime, e.Series.LastObservedTime, e.CreationTimestamp} {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// ObjectReference names an object.
type ObjectReference struct {
	APIVersion string `json:"apiVersion,omitempty"` // of the object
	Kind       string `json:"kind,omitempty"`       // of the object
	Namespace  string `json:"namespace,omitempty"`  // of the object
	Name       string `json:"name,omitempty"`       // of the object
	UID        string `json:"uid,omitempty"`        // of the object
}

// Lease is a Lease of coordination.k8s.io: a node's, or a leader's.
type Lease struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		HolderIdentity       string    `json:"holderIdentity,omitempty"`       // who holds it
		LeaseDurationSeconds int       `json:"leaseDurationSeconds,omitempty"` // for how long after RenewTime
		RenewTime            time.Time `json:"renewTime,omitzero"`             // when it was renewed last
	} `json:"spec"` // all of it
}

// Claim is a PersistentVolumeClaim.
type Claim struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		VolumeName       string   `json:"volumeName,omitempty"`       // the volume that it is bound to
		StorageClassName *string  `json:"storageClassName,omitempty"` // where its volume comes from
		AccessModes      []string `json:"accessModes,omitempty"`      // such as ReadWriteOnce
		Resources        struct {
			Requests map[string]string `json:"requests,omitempty"` // the size that is wanted, as storage
		} `json:"resources"` // what it asks for
	} `json:"spec"` // the desired state
	Status struct {
		Phase      string               `json:"phase,omitempty"`      // Pending, Bound or Lost
		Capacity   map[string]string    `json:"capacity,omitempty"`   // the size that it has, as storage
		Conditions []fairlead.Condition `json:"conditions,omitempty"` // of a change of its size
	} `json:"status"` // the reported state
}

// StorageClass is where volumes come from.
type StorageClass struct {
	fairlead.ObjectMeta `json:"metadata"`

	Provisioner       string `json:"provisioner,omitempty"`       // who makes them
	VolumeBindingMode string `json:"volumeBindingMode,omitempty"` // Immediate or WaitForFirstConsumer
}

// CSIDriver is a driver of volumes.
type CSIDriver struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		AttachRequired *bool `json:"attachRequired,omitempty"` // whether volumes are attached before they are mounted; nil means true
	} `json:"spec"` // the desired state
}

// CSINode is which drivers a node has; its name is the node's.
type CSINode struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		Drivers []struct {
			Name        string `json:"name"`   // the driver's
			NodeID      string `json:"nodeID"` // the node, as the driver calls it
			Allocatable struct {
				Count *int `json:"count,omitempty"` // how many volumes it can have; nil for no limit
			} `json:"allocatable,omitzero"` // its limits
		} `json:"drivers"` // by name
	} `json:"spec"` // all of it
}

// MachineSet is a MachineSet of either API: only the fields that both share.
type MachineSet struct {
	fairlead.ObjectMeta `json:"metadata"`

	// Spec has the wanted number of machines; nil means that it is not set.
	Spec struct {
		Replicas *int32                  `json:"replicas"`
		Selector *fairlead.LabelSelector `json:"selector,omitempty"` // which machines it owns
	} `json:"spec"`
	Status struct {
		Replicas          int                  `json:"replicas,omitempty"`          // machines that exist
		ReadyReplicas     int                  `json:"readyReplicas,omitempty"`     // those with a ready node
		AvailableReplicas int                  `json:"availableReplicas,omitempty"` // those that have been ready long enough
		ErrorReason       string               `json:"errorReason,omitempty"`       // why there are not enough, in a word
		ErrorMessage      string               `json:"errorMessage,omitempty"`      // why, in a sentence
		Conditions        []fairlead.Condition `json:"conditions,omitempty"`        // by type
	} `json:"status"` // the reported state
}

// Infrastructure is what a cluster runs on.
type Infrastructure struct {
	fairlead.ObjectMeta `json:"metadata"`

	Status struct {
		InfrastructureName     string `json:"infrastructureName,omitempty"`     // the prefix of the names of its resources
		Platform               string `json:"platform,omitempty"`               // as in AWS
		ControlPlaneTopology   string `json:"controlPlaneTopology,omitempty"`   // HighlyAvailable, SingleReplica, External, ...
		InfrastructureTopology string `json:"infrastructureTopology,omitempty"` // HighlyAvailable or SingleReplica
	} `json:"status"` // all that is read
}

// APIRequestCount says who used an API recently, as counted by OpenShift's API server.
type APIRequestCount struct {
	fairlead.ObjectMeta `json:"metadata"`

	Status struct {
		RemovedInRelease string     `json:"removedInRelease"` // the version of Kubernetes without it; empty if unknown
		CurrentHour      Requests   `json:"currentHour"`      // since the full hour
		Last24h          []Requests `json:"last24h"`          // by hour of the day
	} `json:"status"` // what was counted
}

// Requests are those of an hour.
type Requests struct {
	ByNode []struct {
		ByUser []struct {
			UserName string `json:"username"`  // as the API server knows it
			Agent    string `json:"userAgent"` // the program, as it calls itself
		} `json:"byUser"` // those with the most requests
	} `json:"byNode"` // by node of the control plane
}

// ConfigMap has the data of a ConfigMap.
type ConfigMap struct {
	fairlead.ObjectMeta `json:"metadata"`
	Data                map[string]string `json:"data,omitempty"` // text
}

// EtcdMember is a member of etcd as a must-gather asked it.
type EtcdMember struct {
	Endpoint string `json:"endpoint"`         // its address
	Healthy  bool   `json:"health,omitempty"` // whether it answered, and can commit
	Error    string `json:"error,omitempty"`  // why not
}

// CRD is a CustomResourceDefinition, without its schemas.
type CRD struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		Group    string    `json:"group"`           // the API group
		Names    crd.Names `json:"names"`           // of the kind
		Scope    string    `json:"scope,omitempty"` // Namespaced or Cluster
		Versions []struct {
			Name    string `json:"name"`    // such as v1alpha1
			Served  bool   `json:"served"`  // whether the API server offers it
			Storage bool   `json:"storage"` // whether objects are stored in it
		} `json:"versions,omitempty"` // in any order
		Conversion *struct {
			Strategy string `json:"strategy"` // None or Webhook
			Webhook  *struct {
				ClientConfig ClientConfig `json:"clientConfig"` // who converts
			} `json:"webhook,omitempty"` // with Webhook
		} `json:"conversion,omitempty"` // between versions; nil means that none is needed
	} `json:"spec"` // what it defines
	Status struct {
		StoredVersions []string             `json:"storedVersions,omitempty"` // in which objects may be stored
		Conditions     []fairlead.Condition `json:"conditions,omitempty"`     // NamesAccepted, Established, Terminating, ...
	} `json:"status"` // the reported state
}

// APIService is a part of the API that the API server passes on to a service.
type APIService struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		Group   string            `json:"group,omitempty"`   // the API group
		Version string            `json:"version,omitempty"` // its version
		Service *ServiceReference `json:"service,omitempty"` // who serves it; nil for the API server itself
	} `json:"spec"` // the desired state
	Status struct {
		Conditions []fairlead.Condition `json:"conditions,omitempty"` // Available
	} `json:"status"` // the reported state
}

// ServiceReference names a Service.
type ServiceReference struct {
	Namespace string `json:"namespace"` // its namespace
	Name      string `json:"name"`      // its name
}

// ClientConfig says where requests go.
type ClientConfig struct {
	URL     string            `json:"url,omitempty"`     // outside the cluster
	Service *ServiceReference `json:"service,omitempty"` // in the cluster
}

// WebhookConfiguration is a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration.
type WebhookConfiguration struct {
	fairlead.ObjectMeta `json:"metadata"`
	Webhooks            []Webhook `json:"webhooks,omitempty"` // in the order of the API
}

// Webhook is asked before objects are written.
type Webhook struct {
	Name              string                  `json:"name"`                        // unique in its configuration
	ClientConfig      ClientConfig            `json:"clientConfig"`                // whom to ask
	FailurePolicy     string                  `json:"failurePolicy,omitempty"`     // Fail or Ignore; empty means Fail
	TimeoutSeconds    *int                    `json:"timeoutSeconds,omitempty"`    // how long to wait; nil means 10
	NamespaceSelector *fairlead.LabelSelector `json:"namespaceSelector,omitempty"` // for which namespaces; nil means all
	Rules             []struct {
		Operations []string `json:"operations,omitempty"` // such as CREATE
		APIGroups  []string `json:"apiGroups,omitempty"`  // of the resources
		Resources  []string `json:"resources,omitempty"`  // such as pods
	} `json:"rules,omitempty"` // which requests
}

// OLMConfig is the configuration of the Operator Lifecycle Manager.
type OLMConfig struct {
	fairlead.ObjectMeta `json:"metadata"`

	Spec struct {
		Features struct {
			DisableCopiedCSVs         bool   `json:"disableCopiedCSVs,omitempty"`         // whether CSVs of global operators are not copied
			PackageServerSyncInterval string `json:"packageServerSyncInterval,omitempty"` // how often catalogs are read again
		} `json:"features,omitzero"` // options
	} `json:"spec"` // the desired state
}
