package machine

import (
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
	d.Pods = snapshot.Identified(d.Pods)
	if len(d.Machines)+len(d.Nodes) == 0 {
		return nil, from.Without(file, "there is neither a Machine nor a Node", "dump them with: "+dumpCommand)
	}
	return d, nil
}
