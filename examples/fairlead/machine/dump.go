package machine

import (
	"fmt"

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
	if len(d.Machines)+len(d.Nodes) == 0 {
		return nil, fmt.Errorf("%s: there is neither a Machine nor a Node; dump them with: %s", file, dumpCommand)
	}
	return d, nil
}
