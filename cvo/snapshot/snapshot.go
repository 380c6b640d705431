package snapshot

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
	"github.com/fairlead/fairlead/solver/olm/gate"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/resource"
	"github.com/fairlead/fairlead/solver/olm/source"
)

// Snapshot is what is known of one cluster. The zero value knows nothing. Only the fields
// that somebody reads are kept of each object.
type Snapshot struct {
	Clock    Clock    // when the cluster was looked at, and how that is known
	Identity Identity // which cluster it is

	// Nodes and what runs on them.
	Nodes        List[fairlead.Node]                // the nodes
	Pods         List[fairlead.Pod]                 // of all phases
	Budgets      List[fairlead.PodDisruptionBudget] // PodDisruptionBudgets
	Namespaces   List[Object]                       // with their finalizers
	Deployments  List[Workload]                     // of pods
	ReplicaSets  List[Workload]                     // of pods
	StatefulSets List[Workload]                     // of pods
	DaemonSets   List[Workload]                     // of pods
	Controllers  List[Workload]                     // ReplicationControllers
	Jobs         List[Job]                          // such as those that unpack bundles
	CronJobs     List[CronJob]                      // what starts Jobs
	Autoscalers  List[Autoscaler]                   // HorizontalPodAutoscalers
	Quotas       List[Quota]                        // ResourceQuotas
	Events       List[Event]                        // what was noticed about objects
	Leases       List[Lease]                        // of nodes and leaders

	// How pods are reached.
	Services       List[Service]       // names of pods
	Endpoints      List[Endpoints]     // the addresses behind Services
	EndpointSlices List[EndpointSlice] // likewise
	Ingresses      List[Ingress]       // ways in from outside
	Routes         List[Route]         // likewise, on OpenShift

	// Storage.
	Attachments    List[lifecycle.VolumeAttachment] // VolumeAttachments
	Volumes        List[lifecycle.PersistentVolume] // PersistentVolumes
	Claims         List[Claim]                      // PersistentVolumeClaims
	StorageClasses List[StorageClass]               // where volumes come from
	CSIDrivers     List[CSIDriver]                  // drivers of volumes
	CSINodes       List[CSINode]                    // the drivers of each node

	// Machines, of the Machine API and of the Cluster API: the Ref of each has its API.
	Machines     List[lifecycle.Machine] // of the Machine API and the Cluster API: the Ref has the API
	MachineSets  List[MachineSet]        // likewise
	HealthChecks List[fleet.HealthCheck] // MachineHealthChecks, likewise
	DrainRules   List[drain.Rule]        // MachineDrainRules
	Clusters     List[Object]            // of the Cluster API

	// The cluster's own version.
	Versions         List[cvo.ClusterVersion]  // the ClusterVersion, at most one
	ClusterOperators List[cvo.ClusterOperator] // the reports of operators
	Pools            List[cvo.Pool]            // MachineConfigPools
	Configs          List[Object]              // MachineConfigs
	Infrastructures  List[Infrastructure]      // what the cluster runs on, at most one
	Requests         List[APIRequestCount]     // APIRequestCounts
	ConfigMaps       List[ConfigMap]           // only admin-gates and admin-acks
	Alerts           List[cvo.Alert]           // of the cluster's monitoring; the Refs have no unique names
	Etcd             List[EtcdMember]          // members, as a must-gather asked them

	// Extensions of the API.
	CRDs               List[CRD]                  // CustomResourceDefinitions
	APIServices        List[APIService]           // parts of the API that services serve
	ValidatingWebhooks List[WebhookConfiguration] // configurations
	MutatingWebhooks   List[WebhookConfiguration] // configurations

	// The Operator Lifecycle Manager.
	Subscriptions      List[resource.Subscription]          // of OLM
	InstallPlans       List[resource.InstallPlan]           // of OLM
	CSVs               List[resource.ClusterServiceVersion] // ClusterServiceVersions
	OperatorGroups     List[group.OperatorGroup]            // of OLM
	CatalogSources     List[source.CatalogSource]           // of OLM
	OperatorConditions List[gate.OperatorCondition]         // of OLM
	Packages           List[resource.PackageManifest]       // PackageManifests: what catalogs offer
	Hubs               List[source.Hub]                     // the OperatorHub, at most one
	OLMConfigs         List[OLMConfig]                      // at most one
	Extensions         List[resource.ClusterExtension]      // ClusterExtensions of OLM v1
	ClusterCatalogs    List[resource.ClusterCatalog]        // of OLM v1

	// Others are the objects of all other kinds, by kind and group as in
	// Etcd.operator.openshift.io, with what every object has.
	Others map[string]*List[Object]

	// Warnings are what was odd in the input, in its order: files and fields that could not
	// be read, and objects of which there were several copies.
	Warnings []Warning
	// Files counts the files that were read.
	Files int

	index indexes
}

// Identity says which cluster was looked at.
type Identity struct {
	ID     string `json:"id,omitempty"`     // the clusterID of its ClusterVersion
	System string `json:"system,omitempty"` // the UID of namespace kube-system
	Name   string `json:"name,omitempty"`   // the infrastructureName, or how a kubeconfig calls it
}

// configMapNames are the ConfigMaps that are kept: the gates that administrators
// acknowledge before an update, and their acknowledgements.
var configMapNames = []string{"admin-gates", "admin-acks"}

// Version returns the ClusterVersion; nil if it is not known.
func (s *Snapshot) Version() *cvo.ClusterVersion {
	if v, is := s.Versions.Get("", "version"); is == Present {
		return v
	}
	if len(s.Versions.Items) > 0 {
		return &s.Versions.Items[0]
	}
	return nil
}

// Empty reports whether the snapshot has not a single object.
func (s *Snapshot) Empty() bool {
	for _, l := range s.tables() {
		if scope := l.scope(); l.len() > 0 || scope.All || scope.Assumed || len(scope.Namespaces) > 0 {
			return false
		}
	}
	return len(s.Alerts.Items)+len(s.Etcd.Items) == 0
}

// A Warning says what was odd in the input.
type Warning struct {
	Where   fairlead.Position `json:"where"`             // file, line and column
	Object  string            `json:"object,omitempty"`  // as in "Node worker-0"; empty for a whole file
	Field   string            `json:"field,omitempty"`   // its path; empty for the whole object
	Problem string            `json:"problem"`           // what is odd
	Unread  bool              `json:"unread,omitempty"`  // something could not be read, and so is unknown
	Ignored bool              `json:"ignored,omitempty"` // something that could be read is not used: an older copy
	Foreign bool              `json:"foreign,omitempty"` // it is not an object of Kubernetes, and was skipped
	Count   int               `json:"count,omitempty"`   // how often; 0 means once
}

// String returns the warning in one line.
func (w *Warning) String() string {
	text := w.Where.String() + ": "
	if w.Object != "" {
		text += w.Object + ": "
	}
	if w.Field != "" {
		text += w.Field + ": "
	}
	return text + w.Problem
}
