package machine

import (
	"fmt"
	"io"

	"github.com/fairlead/fairlead/examples/internal/dump"
	"github.com/fairlead/fairlead/examples/internal/machines"
	"github.com/fairlead/fairlead/lifecycle"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// dumped is the dump of a cluster.
type dumped struct {
	machines.Cluster
	replicas []drain.Replicas
}

// readDump reads objects in JSON or YAML: single ones, and lists as kubectl get
// prints them, from a file or all files of a directory. Irrelevant kinds are
// skipped.
func readDump(open func(string) (io.ReadCloser, error), file string) (*dumped, error) {
	d := &dumped{}
	if err := dump.Objects(open, file, d.object); err != nil {
		return nil, err
	}
	if len(d.Machines)+len(d.Nodes) == 0 {
		return nil, fmt.Errorf("%s: there is neither a Machine nor a Node; dump them with: %s", file, dumpCommand)
	}
	return d, nil
}

// object adds one object.
func (d *dumped) object(o dump.Object) error {
	switch o.Kind {
	case "Node":
		return dump.Append(o, &d.Nodes)
	case "Pod":
		return dump.Append(o, &d.Pods)
	case "PodDisruptionBudget":
		return dump.Append(o, &d.Budgets)
	case "DaemonSet":
		d.DaemonSets, d.Listed = append(d.DaemonSets, o.Meta), true
	case "DaemonSetList":
		d.Listed = true
	case "ReplicaSet", "StatefulSet", "ReplicationController":
		r, err := dump.Replicas(o)
		if err != nil {
			return err
		}
		d.replicas = append(d.replicas, r)
	case "Machine":
		m, err := lifecycle.ReadDocument(o.JSON)
		if err == nil {
			d.Machines = append(d.Machines, m.Machine)
		}
		return err
	}
	return d.Around.Add(o)
}
