package plan

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/snapshot"
)

// FromSnapshot returns the situation of a cluster, but for its Operators, whose versions are
// in catalogs: see ReadOperators. Updates are those that the ClusterVersion lists. The lists
// are those of the snapshot, but for pods without a UID: see snapshot.Identified.
func FromSnapshot(s *snapshot.Snapshot) *Situation {
	out := &Situation{
		At: s.Clock.At, Cluster: s.Version(), ClusterOperators: s.ClusterOperators.Known(), Gates: s.AdminGates(),
		Pools: s.Pools.Known(), Nodes: s.Nodes.Known(), Configs: s.ConfigReleases(),
		Pods: snapshot.Identified(s.Pods.Known()), Budgets: s.Budgets.Known(), Replicas: s.Replicas(), Machines: s.Machines.Known(),
		Members: members(s.Pods.Items),
	}
	if counts := s.Requests.Known(); counts != nil {
		out.Removed = ReadRemoved(counts)
	}
	for _, kind := range [...]string{"Node", "Pod", "PodDisruptionBudget", "ClusterOperator", "MachineConfigPool", "MachineConfig", "Subscription", "ClusterServiceVersion", "APIRequestCount"} {
		for _, g := range s.Partly(kind) {
			if out.Partly == nil {
				out.Partly = map[string]cvo.Gap{}
			}
			out.Partly[kind] = g
		}
	}
	if out.Cluster != nil {
		out.Moves, out.Risks = ReadUpdates(out.Cluster)
		out.Channels = ReadChannels(out.Cluster)
	}
	for i := range s.HealthChecks.Items {
		h := &s.HealthChecks.Items[i]
		if _, paused := h.Annotations["cluster.x-k8s.io/paused"]; !paused {
			out.HealthChecks = append(out.HealthChecks, h.Namespace+"/"+h.Name)
		}
	}
	for i := range s.Infrastructures.Items {
		out.Topology = s.Infrastructures.Items[i].Status.ControlPlaneTopology
	}
	return out
}

// members returns the members of etcd by their pods; nil if there are none.
func members(pods []fairlead.Pod) (all []Member) {
	for i := range pods {
		p := &pods[i]
		if p.Namespace != "openshift-etcd" || p.Labels["app"] != "etcd" {
			continue
		}
		m := Member{Name: p.Name, Node: p.Spec.NodeName, Healthy: fairlead.ConditionFalse}
		if p.Ready() {
			m.Healthy = fairlead.ConditionTrue
		}
		all = append(all, m)
	}
	return all
}

// UseGraph uses the updates of an update graph instead of those that the ClusterVersion lists,
// which must be known, and its channels. The error is that of FromGraph.
func (s *Situation) UseGraph(g *graph.Graph) (err error) {
	if s.Moves, s.Risks, err = FromGraph(g, s.Cluster.Status.Desired.Version, nil, graph.Evaluations{}); err != nil {
		return err
	}
	for _, known := range ReadRisks(s.Cluster) {
		for i := range s.Risks {
			if s.Risks[i].Name == known.Name && known.Applies != fairlead.ConditionUnknown {
				s.Risks[i].Applies = known.Applies
			}
		}
	}
	if s.Channels == nil {
		s.Channels = map[string][]string{}
	}
	for _, r := range g.Releases() {
		if c := r.Channels(); len(c) > 0 {
			s.Channels[r.Version] = c
		}
	}
	return nil
}
