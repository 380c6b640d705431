package taint

import (
	"fmt"

	"github.com/fairlead/fairlead/taints"
)

// runLint tells what is likely not meant.
func (c *command) runLint() (int, error) {
	cluster, err := c.cluster()
	if err != nil {
		return 0, err
	}
	found := taints.Lint(cluster, c.options())
	status := statusGood
	if len(found) > 0 {
		status = statusFound
	}
	if c.format == "json" {
		if found == nil {
			found = []taints.Finding{}
		}
		return status, c.printJSON(found)
	}
	for _, f := range found {
		fmt.Fprintln(c.stdout, f)
	}
	if len(found) == 0 {
		fmt.Fprintf(c.stdout, "nodes: %d, pods: %d; nothing to say\n", len(cluster.Nodes), len(cluster.Pods))
	}
	return status, nil
}
