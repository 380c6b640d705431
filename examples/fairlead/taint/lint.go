package taint

import (
	"fmt"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints"
)

// lint reports probable mistakes.
func lint(c *args.Call) error {
	in := newInput(c)
	format := c.Choice("o", "text", "json")
	if err := in.parse(); err != nil {
		return err
	}
	in.source.Kinds = []string{"Node", "Pod", "PodDisruptionBudget"}
	cluster, err := in.cluster()
	if err != nil {
		return err
	}
	found := taints.Lint(cluster, in.options())
	unknown := func() bool { return in.unknown(*format, "Node", "Pod") }
	if *format == "json" {
		if found == nil {
			found = []taints.Finding{}
		}
		in.beside("Node", "Pod")
		err := c.JSON(map[string]any{"findings": found})
		return findings(err, unknown() || len(found) > 0)
	}
	for _, f := range found {
		words.Fprintf(c.Stdout, "%v\n", f)
	}
	lacks := unknown()
	switch {
	case len(found) > 0:
	case lacks:
		fmt.Fprintln(c.Stdout, "no findings in what is known")
	default:
		fmt.Fprintf(c.Stdout, "nodes: %d, pods: %d; no findings\n", len(cluster.Nodes), len(cluster.Pods))
	}
	return findings(nil, lacks || len(found) > 0)
}
