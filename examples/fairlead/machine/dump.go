package machine

import (
	"fmt"
	"io"

	"github.com/fairlead/fairlead/examples/internal/dump"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// dumped is what a cluster has printed of itself.
type dumped struct {
	machines   []*lifecycle.Document
	sets       []machineSet
	nodes      []lifecycle.Node
	pods       []lifecycle.Pod
	budgets    []lifecycle.PodDisruptionBudget
	checks     []fleet.HealthCheck
	rules      []drain.Rule
	namespaces []lifecycle.ObjectMeta
	daemonSets []lifecycle.ObjectMeta
	listed     bool // whether DaemonSets were printed
	replicas   []drain.Replicas
	clusters   []lifecycle.ObjectMeta
}

// machineSet is what of a MachineSet matters here.
type machineSet struct {
	lifecycle.ObjectMeta `json:"metadata"`
	Spec                 struct {
		Replicas *int32 `json:"replicas"`
	} `json:"spec"`
}

// readDump reads objects in JSON or YAML: single ones, and lists as kubectl get
// prints them, from a file or all files of a directory. Kinds that do not matter here
// are passed over.
func readDump(open func(string) (io.ReadCloser, error), file string) (*dumped, error) {
	d := &dumped{}
	take := dump.Once(d.object)
	read := func(src io.Reader, file string) error { return dump.Read(src, file, take) }
	if err := (dump.Files{Open: open, Read: read}).In(file); err != nil {
		return nil, err
	}
	if len(d.machines)+len(d.nodes) == 0 {
		return nil, fmt.Errorf("%s: there is neither a Machine nor a Node; dump them with: %s", file, dumpCommand)
	}
	return d, nil
}

// object takes one object.
func (d *dumped) object(o dump.Object) error {
	switch o.Kind {
	case "Machine":
		m, err := lifecycle.ReadDocument(o.JSON)
		if err == nil {
			d.machines = append(d.machines, m)
		}
		return err
	case "MachineSet":
		return dump.Append(o, &d.sets)
	case "MachineHealthCheck":
		return dump.Append(o, &d.checks)
	case "MachineDrainRule":
		return dump.Append(o, &d.rules)
	case "Node":
		return dump.Append(o, &d.nodes)
	case "Pod":
		return dump.Append(o, &d.pods)
	case "PodDisruptionBudget":
		return dump.Append(o, &d.budgets)
	case "Namespace":
		d.namespaces = append(d.namespaces, o.Meta)
	case "Cluster":
		d.clusters = append(d.clusters, o.Meta)
	case "DaemonSet":
		d.daemonSets, d.listed = append(d.daemonSets, o.Meta), true
	case "DaemonSetList":
		d.listed = true
	case "ReplicaSet", "StatefulSet", "ReplicationController":
		r, err := dump.Replicas(o)
		if err != nil {
			return err
		}
		d.replicas = append(d.replicas, r)
	}
	return nil
}

// node returns the node of a machine; nil if it was not dumped.
func (d *dumped) node(m *lifecycle.Machine) *lifecycle.Node { return lifecycle.NodeOf(m, d.nodes) }

// drainWorld returns what a drain of a machine's node looks at.
func (d *dumped) drainWorld(n *lifecycle.Node) drain.View {
	w := drain.View{Node: n, Budgets: d.budgets, DaemonSets: d.daemonSets, DaemonSetsListed: d.listed, Namespaces: d.namespaces}
	if n != nil {
		for _, p := range d.pods {
			if p.Spec.NodeName == n.Name {
				w.Pods = append(w.Pods, p)
			}
		}
	}
	if len(d.clusters) == 1 {
		w.ClusterLabels = d.clusters[0].Labels
	}
	return w
}

// set returns how the set of a machine stands, or nil.
func (d *dumped) set(m *lifecycle.Machine) *fleet.SetScene {
	owner := m.ControllerOf()
	if owner == nil || owner.Kind != "MachineSet" {
		return nil
	}
	for i := range d.sets {
		s := &d.sets[i]
		if s.Name != owner.Name || s.Namespace != m.Namespace || s.Spec.Replicas == nil {
			continue
		}
		scene := &fleet.SetScene{Name: s.Name, Replicas: int(*s.Spec.Replicas)}
		for _, other := range d.machines {
			if o := other.Machine.ControllerOf(); o != nil && o.Kind == owner.Kind && o.Name == owner.Name && other.Machine.Namespace == m.Namespace {
				scene.Machines++
			}
		}
		return scene
	}
	return nil
}
