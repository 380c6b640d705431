package taint

import (
	"fmt"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/taints"
)

// lint reports probable mistakes.
func lint(c *args.Call) error {
	in := newInput(c)
	format := c.Choice("o", "text", "json")
	if err := in.parse(); err != nil {
		return err
	}
	cluster, err := in.cluster()
	if err != nil {
		return err
	}
	found := taints.Lint(cluster, in.options())
	if *format == "json" {
		if found == nil {
			found = []taints.Finding{}
		}
		return findings(c.JSON(found), len(found) > 0)
	}
	for _, f := range found {
		fmt.Fprintln(c.Stdout, f)
	}
	if len(found) == 0 {
		fmt.Fprintf(c.Stdout, "nodes: %d, pods: %d; no findings\n", len(cluster.Nodes), len(cluster.Pods))
	}
	return findings(nil, len(found) > 0)
}
