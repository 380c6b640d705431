package taint

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/taints"
)

// parse reads changes and, if there is a node, applies them.
func parse(c *args.Call) error {
	in := newInput(c)
	format := c.Choice("o", "text", "json")
	node := c.Flags.String("node", "", "")
	var how taints.EditOptions
	c.Flags.BoolVar(&how.Kubectl, "kubectl", false, "")
	c.Flags.BoolVar(&how.Overwrite, "overwrite", false, "")
	in.source = reading.Declare(c)
	if err := c.Parse(0, math.MaxInt); err != nil {
		return err
	}
	if len(c.Args) == 0 {
		return errors.New("no changes: give at least one, such as key=value:NoSchedule or key- (-h shows the usage)")
	}
	changes, err := taints.ParseChanges(c.Args)
	if err != nil {
		return err
	}
	if *node != "" {
		return edit(in, *node, changes, &how, *format)
	}
	if how.Kubectl || how.Overwrite || in.file != "" {
		return errors.New("-f, -kubectl and -overwrite say how a node is changed: name it with -node")
	}
	if *format == "json" {
		return c.JSON(changes)
	}
	for _, ch := range changes {
		verb := "set   "
		if ch.Remove {
			verb = "remove"
		}
		effect := string(ch.Effect)
		if effect == "" {
			effect = "every effect"
		}
		words.Fprintf(c.Stdout, "%s  key %s, value %q, %s\n", verb, ch.Key, ch.Value, effect)
	}
	return nil
}

// edit shows the resulting taints of a node.
func edit(in *input, node string, changes []taints.Change, how *taints.EditOptions, format string) error {
	in.source.Kinds = []string{"Node"}
	cluster, err := in.cluster()
	if err != nil {
		return err
	}
	for i := range cluster.Nodes {
		n := &cluster.Nodes[i]
		if n.Name != node {
			continue
		}
		e, err := taints.Edit(n, changes, how)
		if err != nil {
			return err
		}
		if format == "json" {
			return in.JSON(e)
		}
		words.Fprintf(in.Stdout, "node/%s %s\n", n.Name, e.Verb)
		for _, part := range []struct {
			name string
			list []fairlead.Taint
		}{{"added", e.Added}, {"changed", e.Changed}, {"removed", e.Removed}, {"taints", e.Taints}} {
			if len(part.list) > 0 {
				words.Fprintf(in.Stdout, "  %-8s %s\n", part.name, taintList(part.list))
			}
		}
		return nil
	}
	return fmt.Errorf("-node %s: there is no such node in the input", node)
}

// taintList returns taints as one line.
func taintList(list []fairlead.Taint) string {
	words := make([]string, len(list))
	for i, t := range list {
		words[i] = t.String()
	}
	return strings.Join(words, " ")
}
