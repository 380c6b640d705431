package snapshot

import (
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// UpdateDump returns what [cvo.Inspect] reads.
func (s *Snapshot) UpdateDump() *cvo.Dump {
	return &cvo.Dump{
		Version: s.Version(), Operators: s.ClusterOperators.Known(), Pools: s.Pools.Known(), Nodes: s.Nodes.Known(), Configs: s.ConfigReleases(),
		Alerts: s.Alerts.Known(), Pods: s.Pods.Known(), Budgets: s.Budgets.Known(), Gates: s.AdminGates(), At: s.Clock.At,
		Partly: s.Partly("ClusterOperator", "MachineConfigPool", "Node", "MachineConfig"),
	}
}

// releaseAnnotation is the annotation of a MachineConfig with the release that it is from.
const releaseAnnotation = "machineconfiguration.openshift.io/release-image-version"

// ConfigReleases returns the releases that machine configurations are from, by name of the
// configuration; nil if they are not known. One that is not from a release has "".
func (s *Snapshot) ConfigReleases() map[string]string {
	if !s.Configs.Scope.Looked() && len(s.Configs.Items) == 0 {
		return nil
	}
	releases := map[string]string{}
	for i := range s.Configs.Items {
		c := &s.Configs.Items[i]
		releases[c.Name] = c.Annotations[releaseAnnotation]
	}
	return releases
}

// Replicas returns how many pods the owners of pods should have, by kind: ReplicaSets,
// StatefulSets, ReplicationControllers.
func (s *Snapshot) Replicas() []drain.Replicas {
	var all []drain.Replicas
	for _, of := range []struct {
		kind string
		list *List[Workload]
	}{{"ReplicaSet", &s.ReplicaSets}, {"StatefulSet", &s.StatefulSets}, {"ReplicationController", &s.Controllers}} {
		for i := range of.list.Items {
			w := &of.list.Items[i]
			r := drain.Replicas{Namespace: w.Namespace, Kind: of.kind, Name: w.Name, Count: 1}
			if w.Spec.Replicas != nil {
				r.Count = *w.Spec.Replicas
			}
			all = append(all, r)
		}
	}
	return all
}

// AdminGates returns what administrators must acknowledge before the minor version changes,
// and what they have; nil if the gates are not known.
func (s *Snapshot) AdminGates() *cvo.AdminGates {
	data := func(name string) (map[string]string, bool) {
		for i := range s.ConfigMaps.Items {
			if s.ConfigMaps.Items[i].Name == name {
				return s.ConfigMaps.Items[i].Data, true
			}
		}
		return nil, false
	}
	gates, known := data("admin-gates")
	if !known {
		return nil
	}
	acks, _ := data("admin-acks")
	return &cvo.AdminGates{Gates: gates, Acks: acks}
}

// Metas returns the metadata of the items of a list, in order; nil if the list is nil.
func Metas[T any](list []T) []fairlead.ObjectMeta {
	if list == nil {
		return nil
	}
	all := make([]fairlead.ObjectMeta, len(list))
	for i := range list {
		all[i] = *metaOf(&list[i])
	}
	return all
}

// Identified returns pods in which those without a UID have one: their name, because names are unique
// in a dump, which is of one moment. The list is a copy if there are any; nil stays nil.
func Identified(pods []fairlead.Pod) []fairlead.Pod {
	copied := false
	for i := range pods {
		if pods[i].UID != "" {
			continue
		}
		if !copied {
			pods, copied = slices.Clone(pods), true
		}
		pods[i].UID = pods[i].ObjectMeta.String()
	}
	return pods
}
