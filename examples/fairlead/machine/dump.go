package machine

import (
	"slices"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/machines"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/lifecycle/drain"
)

// dumped is the dump of a cluster.
type dumped struct {
	machines.Cluster
	replicas []drain.Replicas
	snapshot *snapshot.Snapshot
}

// readDump reads a cluster.
func readDump(from *reading.Source, file string) (*dumped, error) {
	s, err := from.Read(file)
	if err != nil {
		return nil, err
	}
	d := &dumped{Cluster: machines.Of(s), replicas: s.Replicas(), snapshot: s}
	d.identify()
	if len(d.Machines)+len(d.Nodes) == 0 {
		return nil, from.Without(file, "there is neither a Machine nor a Node", "dump them with: "+dumpCommand)
	}
	return d, nil
}

// identify gives pods without a UID one: a dump from which they were removed is of one moment,
// in which names are unique.
func (d *dumped) identify() {
	copied := false
	for i := range d.Pods {
		if d.Pods[i].UID != "" {
			continue
		}
		if !copied {
			d.Pods, copied = slices.Clone(d.Pods), true
		}
		d.Pods[i].UID = d.Pods[i].ObjectMeta.String()
	}
}
