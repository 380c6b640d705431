package update

import (
	"fmt"
	"os"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/reading"
)

// dumpHelp describes a dump.
const dumpHelp = `DIR is an unpacked must-gather, or a directory with the output of kubectl get -o yaml for ClusterVersions,
ClusterOperators, MachineConfigPools, MachineConfigs and Nodes, and a file alerts.json.
FILE holds such objects, and - is standard input.
PREFIX is the common beginning of these files:
  PREFIX-cv.yaml     the ClusterVersion; the others are optional
  PREFIX-co.yaml     the ClusterOperators
  PREFIX-mcp.yaml    the MachineConfigPools, and -mc.yaml the MachineConfigs
  PREFIX-node.yaml   the Nodes
  PREFIX-alerts.json the answer of Prometheus to /api/v1/alerts
`

// readDump reads what is known of a cluster, and at least something of its update.
func readDump(from *reading.Source, name string) (*snapshot.Snapshot, error) {
	s, err := from.Read(name)
	if err != nil {
		return nil, err
	}
	d := s.UpdateDump()
	if d.Version != nil || len(d.Operators)+len(d.Pools)+len(d.Nodes)+len(d.Configs) > 0 {
		return s, nil
	}
	const wanted = "ClusterVersion, ClusterOperator, MachineConfigPool, MachineConfig or Node"
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: looked for a "+wanted+" in the files .yaml, .yml and .json below it (%d) and found none; name an unpacked must-gather, "+
			"or a directory with the output of kubectl get -o yaml: kubectl get clusterversion version -o yaml > DIR/cv.yaml, and so on", name, s.Files)
	}
	return nil, from.Without(name, "it contains no "+wanted, "save the output of: kubectl get clusterversions,clusteroperators,machineconfigpools,machineconfigs,nodes -o yaml")
}
