package dump

import (
	"slices"
	"strings"
)

// groups are the API groups of the kinds whose names other APIs also use: a must-gather may
// contain Nodes of Longhorn, Subscriptions of Knative and Clusters of PostgreSQL.
var groups = map[string][]string{
	"Cluster":               {"cluster.x-k8s.io"},
	"ClusterCatalog":        {"olm.operatorframework.io"},
	"ClusterExtension":      {"olm.operatorframework.io"},
	"ClusterOperator":       {"config.openshift.io"},
	"ClusterServiceVersion": {"operators.coreos.com"},
	"ClusterVersion":        {"config.openshift.io"},
	"CatalogSource":         {"operators.coreos.com"},
	"ConfigMap":             {""},
	"DaemonSet":             {"apps", "extensions"},
	"MachineConfig":         {"machineconfiguration.openshift.io"},
	"MachineConfigPool":     {"machineconfiguration.openshift.io"},
	"MachineDrainRule":      {"cluster.x-k8s.io"},
	"MachineHealthCheck":    {"cluster.x-k8s.io", "machine.openshift.io"},
	"MachineSet":            {"cluster.x-k8s.io", "machine.openshift.io"},
	"Namespace":             {""},
	"Node":                  {""},
	"OperatorGroup":         {"operators.coreos.com"},
	"Pod":                   {""},
	"PodDisruptionBudget":   {"policy"},
	"ReplicaSet":            {"apps", "extensions"},
	"ReplicationController": {""},
	"Subscription":          {"operators.coreos.com"},
}

// foreign reports whether an object or a list belongs to another API that uses the same kind.
// One without an apiVersion does not, and neither does a list of v1, which programs
// write around objects of any API: its items tell.
func foreign(kind, apiVersion string) bool {
	kind, list := strings.CutSuffix(kind, "List")
	own, ok := groups[kind]
	if !ok || apiVersion == "" {
		return false
	}
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = ""
	}
	return !slices.Contains(own, group) && !(list && group == "")
}
