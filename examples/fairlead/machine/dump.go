package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/doc"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
	"github.com/fairlead/fairlead/lifecycle/fleet"
)

// dump is what a cluster has printed of itself.
type dump struct {
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
// prints them. Kinds that do not matter here are passed over.
func readDump(src io.Reader, file string) (*dump, error) {
	r := doc.NewReader(src, file, doc.Limits{Size: 256 << 20, Nodes: 16 << 20})
	r.YAML11()
	d := &dump{}
	for {
		document, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := d.add(document.JSON, ""); err != nil {
			return nil, fmt.Errorf("%s: %w", document.Start, err)
		}
	}
	if len(d.machines)+len(d.nodes) == 0 {
		return nil, fmt.Errorf("%s: there is neither a Machine nor a Node; dump them with: %s", file, dumpCommand)
	}
	return d, nil
}

// add takes an object, or the items of a list; path leads to it.
func (d *dump) add(raw json.RawMessage, path string) error {
	var head struct {
		Kind     string          `json:"kind"`
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return fmt.Errorf("%s%w", path, err)
	}
	if strings.HasSuffix(head.Kind, "List") {
		var list struct {
			Items []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("%s%w", path, err)
		}
		for i, item := range list.Items {
			if err := d.add(item, fmt.Sprintf("%sitems[%d]: ", path, i)); err != nil {
				return err
			}
		}
		d.listed = d.listed || head.Kind == "DaemonSetList"
		return nil
	}
	var meta lifecycle.ObjectMeta
	var err error
	if head.Metadata != nil {
		err = json.Unmarshal(head.Metadata, &meta)
	}
	if err == nil {
		err = d.object(head.Kind, meta, raw)
	}
	if err != nil {
		return fmt.Errorf("%s%s %s: %w", path, head.Kind, meta, err)
	}
	return nil
}

// object takes one object.
func (d *dump) object(kind string, meta lifecycle.ObjectMeta, raw json.RawMessage) error {
	switch kind {
	case "Machine":
		m, err := lifecycle.ReadDocument(raw)
		if err == nil {
			d.machines = append(d.machines, m)
		}
		return err
	case "MachineSet":
		return decode(raw, &d.sets)
	case "MachineHealthCheck":
		return decode(raw, &d.checks)
	case "MachineDrainRule":
		return decode(raw, &d.rules)
	case "Node":
		return decode(raw, &d.nodes)
	case "Pod":
		return decode(raw, &d.pods)
	case "PodDisruptionBudget":
		return decode(raw, &d.budgets)
	case "Namespace":
		d.namespaces = append(d.namespaces, meta)
	case "Cluster":
		d.clusters = append(d.clusters, meta)
	case "DaemonSet":
		d.daemonSets, d.listed = append(d.daemonSets, meta), true
	case "ReplicaSet", "StatefulSet", "ReplicationController":
		var o machineSet
		if err := json.Unmarshal(raw, &o); err != nil {
			return err
		}
		count := 1
		if o.Spec.Replicas != nil {
			count = int(*o.Spec.Replicas)
		}
		d.replicas = append(d.replicas, drain.Replicas{Namespace: meta.Namespace, Kind: kind, Name: meta.Name, Count: count})
	}
	return nil
}

// decode adds an object to a list.
func decode[T any](raw json.RawMessage, to *[]T) error {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	*to = append(*to, v)
	return nil
}

// node returns the node of a machine; nil if it was not dumped.
func (d *dump) node(m *lifecycle.Machine) *lifecycle.Node { return lifecycle.NodeOf(m, d.nodes) }

// drainWorld returns what a drain of a machine's node looks at.
func (d *dump) drainWorld(n *lifecycle.Node) drain.View {
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
func (d *dump) set(m *lifecycle.Machine) *fleet.SetScene {
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

// writeJSON prints v.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
