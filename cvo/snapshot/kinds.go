package snapshot

import (
	"slices"
	"strings"
)

// kind is a kind of objects with a list of its own.
type kind struct {
	name, plural string
	groups       []string // API groups; other groups may use the same name for something else
	namespaced   bool
	list         func(*Snapshot) table
}

// Kind is a kind of objects with a list of its own in a Snapshot.
type Kind struct {
	Name       string   // as in Node
	Plural     string   // as in nodes
	Groups     []string // its API groups, empty for the core group; other groups may use the name for something else
	Namespaced bool     // its objects have namespaces
}

// Kinds returns the kinds with lists of their own, in a fixed order. The caller owns them.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i, k := range kinds {
		all[i] = Kind{k.name, k.plural, slices.Clone(k.groups), k.namespaced}
	}
	return all
}

// kinds are those with a list of their own.
var kinds = []kind{
	{"Node", "nodes", core, false, func(s *Snapshot) table { return &s.Nodes }},
	{"Pod", "pods", core, true, func(s *Snapshot) table { return &s.Pods }},
	{"PodDisruptionBudget", "poddisruptionbudgets", []string{"policy"}, true, func(s *Snapshot) table { return &s.Budgets }},
	{"Namespace", "namespaces", core, false, func(s *Snapshot) table { return &s.Namespaces }},
	{"Deployment", "deployments", apps, true, func(s *Snapshot) table { return &s.Deployments }},
	{"ReplicaSet", "replicasets", apps, true, func(s *Snapshot) table { return &s.ReplicaSets }},
	{"StatefulSet", "statefulsets", apps, true, func(s *Snapshot) table { return &s.StatefulSets }},
	{"DaemonSet", "daemonsets", apps, true, func(s *Snapshot) table { return &s.DaemonSets }},
	{"ReplicationController", "replicationcontrollers", core, true, func(s *Snapshot) table { return &s.Controllers }},
	{"Job", "jobs", []string{"batch"}, true, func(s *Snapshot) table { return &s.Jobs }},
	{"CronJob", "cronjobs", []string{"batch"}, true, func(s *Snapshot) table { return &s.CronJobs }},
	{"HorizontalPodAutoscaler", "horizontalpodautoscalers", []string{"autoscaling"}, true, func(s *Snapshot) table { return &s.Autoscalers }},
	{"ResourceQuota", "resourcequotas", core, true, func(s *Snapshot) table { return &s.Quotas }},
	{"Event", "events", []string{"", "events.k8s.io"}, true, func(s *Snapshot) table { return &s.Events }},
	{"Lease", "leases", []string{"coordination.k8s.io"}, true, func(s *Snapshot) table { return &s.Leases }},

	{"Service", "services", core, true, func(s *Snapshot) table { return &s.Services }},
	{"Endpoints", "endpoints", core, true, func(s *Snapshot) table { return &s.Endpoints }},
	{"EndpointSlice", "endpointslices", []string{"discovery.k8s.io"}, true, func(s *Snapshot) table { return &s.EndpointSlices }},
	{"Ingress", "ingresses", []string{"networking.k8s.io"}, true, func(s *Snapshot) table { return &s.Ingresses }},
	{"Route", "routes", []string{"route.openshift.io"}, true, func(s *Snapshot) table { return &s.Routes }},

	{"VolumeAttachment", "volumeattachments", storage, false, func(s *Snapshot) table { return &s.Attachments }},
	{"PersistentVolume", "persistentvolumes", core, false, func(s *Snapshot) table { return &s.Volumes }},
	{"PersistentVolumeClaim", "persistentvolumeclaims", core, true, func(s *Snapshot) table { return &s.Claims }},
	{"StorageClass", "storageclasses", storage, false, func(s *Snapshot) table { return &s.StorageClasses }},
	{"CSIDriver", "csidrivers", storage, false, func(s *Snapshot) table { return &s.CSIDrivers }},
	{"CSINode", "csinodes", storage, false, func(s *Snapshot) table { return &s.CSINodes }},

	{"Machine", "machines", machines, true, func(s *Snapshot) table { return &s.Machines }},
	{"MachineSet", "machinesets", machines, true, func(s *Snapshot) table { return &s.MachineSets }},
	{"MachineHealthCheck", "machinehealthchecks", machines, true, func(s *Snapshot) table { return &s.HealthChecks }},
	{"MachineDrainRule", "machinedrainrules", clusterAPI, true, func(s *Snapshot) table { return &s.DrainRules }},
	{"Cluster", "clusters", clusterAPI, true, func(s *Snapshot) table { return &s.Clusters }},

	{"ClusterVersion", "clusterversions", config, false, func(s *Snapshot) table { return &s.Versions }},
	{"ClusterOperator", "clusteroperators", config, false, func(s *Snapshot) table { return &s.ClusterOperators }},
	{"MachineConfigPool", "machineconfigpools", machineConfig, false, func(s *Snapshot) table { return &s.Pools }},
	{"MachineConfig", "machineconfigs", machineConfig, false, func(s *Snapshot) table { return &s.Configs }},
	{"Infrastructure", "infrastructures", config, false, func(s *Snapshot) table { return &s.Infrastructures }},
	{"APIRequestCount", "apirequestcounts", []string{"apiserver.openshift.io"}, false, func(s *Snapshot) table { return &s.Requests }},
	{"ConfigMap", "configmaps", core, true, func(s *Snapshot) table { return &s.ConfigMaps }},

	{"CustomResourceDefinition", "customresourcedefinitions", []string{"apiextensions.k8s.io"}, false, func(s *Snapshot) table { return &s.CRDs }},
	{"APIService", "apiservices", []string{"apiregistration.k8s.io"}, false, func(s *Snapshot) table { return &s.APIServices }},
	{"ValidatingWebhookConfiguration", "validatingwebhookconfigurations", admission, false, func(s *Snapshot) table { return &s.ValidatingWebhooks }},
	{"MutatingWebhookConfiguration", "mutatingwebhookconfigurations", admission, false, func(s *Snapshot) table { return &s.MutatingWebhooks }},

	{"Subscription", "subscriptions", olmV0, true, func(s *Snapshot) table { return &s.Subscriptions }},
	{"InstallPlan", "installplans", olmV0, true, func(s *Snapshot) table { return &s.InstallPlans }},
	{"ClusterServiceVersion", "clusterserviceversions", olmV0, true, func(s *Snapshot) table { return &s.CSVs }},
	{"OperatorGroup", "operatorgroups", olmV0, true, func(s *Snapshot) table { return &s.OperatorGroups }},
	{"CatalogSource", "catalogsources", olmV0, true, func(s *Snapshot) table { return &s.CatalogSources }},
	{"OperatorCondition", "operatorconditions", olmV0, true, func(s *Snapshot) table { return &s.OperatorConditions }},
	{"PackageManifest", "packagemanifests", olmPackages, true, func(s *Snapshot) table { return &s.Packages }},
	{"OperatorHub", "operatorhubs", config, false, func(s *Snapshot) table { return &s.Hubs }},
	{"OLMConfig", "olmconfigs", olmV0, false, func(s *Snapshot) table { return &s.OLMConfigs }},
	{"ClusterExtension", "clusterextensions", olmV1, false, func(s *Snapshot) table { return &s.Extensions }},
	{"ClusterCatalog", "clustercatalogs", olmV1, false, func(s *Snapshot) table { return &s.ClusterCatalogs }},
}

// API groups.
var (
	core          = []string{""}
	apps          = []string{"apps", "extensions"}
	storage       = []string{"storage.k8s.io"}
	machines      = []string{"machine.openshift.io", "cluster.x-k8s.io"}
	clusterAPI    = []string{"cluster.x-k8s.io"}
	config        = []string{"config.openshift.io"}
	machineConfig = []string{"machineconfiguration.openshift.io"}
	admission     = []string{"admissionregistration.k8s.io"}
	olmV0         = []string{"operators.coreos.com"}
	olmPackages   = []string{"packages.operators.coreos.com"}
	olmV1         = []string{"olm.operatorframework.io"}
)

var byName, byPlural = func() (names, plurals map[string]*kind) {
	names, plurals = map[string]*kind{}, map[string]*kind{}
	for i := range kinds {
		names[kinds[i].name], plurals[kinds[i].plural] = &kinds[i], &kinds[i]
	}
	return names, plurals
}()

// kindOf returns the kind of objects of an API; nil for one without a list of its own.
// Without an apiVersion the name decides.
func kindOf(apiVersion, name string) *kind {
	k := byName[name]
	if k == nil || apiVersion != "" && !slices.Contains(k.groups, groupOf(apiVersion)) {
		return nil
	}
	return k
}

func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}

// other returns the list of a kind without one of its own.
func (s *Snapshot) other(apiVersion, kind string) *List[Object] {
	name := kind
	if g := groupOf(apiVersion); g != "" {
		name += "." + g
	}
	if s.Others == nil {
		s.Others = map[string]*List[Object]{}
	}
	l := s.Others[name]
	if l == nil {
		l = &List[Object]{}
		s.Others[name] = l
	}
	return l
}
