package machines

import (
	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// Cluster is what is known about a cluster with machines. The lists must not change after
// a machine was explained.
type Cluster struct {
	Machines   []lifecycle.Machine             // all of them, including those that are not being deleted
	Nodes      []lifecycle.Node                // empty: not in the dump
	Pods       []lifecycle.Pod                 // likewise
	Budgets    []lifecycle.PodDisruptionBudget // likewise
	DaemonSets []lifecycle.ObjectMeta          // see Listed
	Listed     bool                            // whether DaemonSets are known
	Around

	pods map[string][]lifecycle.Pod // by node
}

// Around contains the objects related to machines that only explanations need.
type Around struct {
	Sets       []Set                  `json:"sets,omitempty"`       // MachineSets
	Checks     []fleet.HealthCheck    `json:"checks,omitempty"`     // MachineHealthChecks
	Rules      []drain.Rule           `json:"rules,omitempty"`      // MachineDrainRules
	Namespaces []lifecycle.ObjectMeta `json:"namespaces,omitempty"` // of pods, which rules select
	Clusters   []lifecycle.ObjectMeta `json:"clusters,omitempty"`   // of the Cluster API

	Attachments []lifecycle.VolumeAttachment `json:"attachments,omitempty"` // of volumes to nodes
	Volumes     []lifecycle.PersistentVolume `json:"volumes,omitempty"`     // PersistentVolumes

	Owning  []snapshot.Object                          `json:"-"` // Clusters of the Cluster API, with what they say
	Objects map[string]*snapshot.List[snapshot.Object] `json:"-"` // as in Snapshot.Others

	Unseen []string `json:"unseen,omitempty"` // which pods and budgets are not known, with the commands that list them
}

// Set is a MachineSet.
type Set = snapshot.MachineSet

// AroundOf returns what a snapshot has of them.
func AroundOf(s *snapshot.Snapshot) Around {
	var unseen []string
	for _, g := range s.Missing("Pod", "PodDisruptionBudget") {
		unseen = append(unseen, g.What+": "+g.How)
	}
	return Around{
		Unseen: unseen,
		Sets:   s.MachineSets.Items, Checks: s.HealthChecks.Items, Rules: s.DrainRules.Items,
		Namespaces: snapshot.Metas(s.Namespaces.Items), Clusters: snapshot.Metas(s.Clusters.Items),
		Attachments: s.Attachments.Items, Volumes: s.Volumes.Items, Owning: s.Clusters.Items, Objects: s.Others,
	}
}

// Of returns what a snapshot knows about a cluster with machines.
func Of(s *snapshot.Snapshot) Cluster {
	return Cluster{
		Machines: s.Machines.Items, Nodes: s.Nodes.Items, Pods: s.Pods.Items, Budgets: s.Budgets.Items,
		DaemonSets: snapshot.Metas(s.DaemonSets.Items), Listed: s.DaemonSets.Known() != nil, Around: AroundOf(s),
	}
}

// ClusterLabels returns the labels of the only cluster of the Cluster API; nil if there are
// several.
func (a *Around) ClusterLabels() map[string]string {
	if len(a.Clusters) != 1 {
		return nil
	}
	return a.Clusters[0].Labels
}

// Node returns the node of a machine; nil if it is not known.
func (c *Cluster) Node(m *lifecycle.Machine) *lifecycle.Node { return lifecycle.NodeOf(m, c.Nodes) }

// view returns the input of a drain of a machine's node.
func (c *Cluster) view(n *lifecycle.Node) drain.View {
	w := drain.View{
		Node: n, Budgets: c.Budgets, DaemonSets: c.DaemonSets, DaemonSetsListed: c.Listed, Namespaces: c.Namespaces, ClusterLabels: c.ClusterLabels(),
	}
	if c.pods == nil {
		c.pods = map[string][]lifecycle.Pod{}
		for _, p := range c.Pods {
			c.pods[p.Spec.NodeName] = append(c.pods[p.Spec.NodeName], p)
		}
	}
	if n != nil {
		w.Pods = c.pods[n.Name]
	}
	return w
}

// set returns the state of the set of a machine, or nil.
func (c *Cluster) set(m *lifecycle.Machine) *fleet.SetScene {
	owner := m.ControllerOf()
	if owner == nil || owner.Kind != "MachineSet" {
		return nil
	}
	for i := range c.Sets {
		s := &c.Sets[i]
		if s.Name != owner.Name || s.Namespace != m.Namespace || s.Spec.Replicas == nil {
			continue
		}
		scene := &fleet.SetScene{Name: s.Name, Replicas: int(*s.Spec.Replicas)}
		for j := range c.Machines {
			other := &c.Machines[j]
			if o := other.ControllerOf(); o != nil && o.Kind == owner.Kind && o.Name == owner.Name && other.Namespace == m.Namespace {
				scene.Machines++
			}
		}
		return scene
	}
	return nil
}
