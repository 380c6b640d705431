package taint

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/taints"
)

type editFlags struct {
	node               string
	kubectl, overwrite bool
}

func (e *editFlags) add(flags *flag.FlagSet) {
	flags.StringVar(&e.node, "node", "", "")
	flags.BoolVar(&e.kubectl, "kubectl", false, "")
	flags.BoolVar(&e.overwrite, "overwrite", false, "")
}

// runParse reads changes and, if there is a node, makes them.
func (c *command) runParse() (int, error) {
	if len(c.words) == 0 {
		return 0, errors.New("parse: no changes: give at least one, such as key=value:NoSchedule or key- (-h shows the usage)")
	}
	changes, err := taints.ParseChanges(c.words)
	if err != nil {
		return 0, err
	}
	if c.edit.node != "" {
		return c.runEdit(changes)
	}
	if c.edit.kubectl || c.edit.overwrite || c.file != "-" {
		return 0, errors.New("parse: -f, -kubectl and -overwrite say how a node is changed: name it with -node")
	}
	if c.format == "json" {
		return statusGood, c.printJSON(changes)
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
		fmt.Fprintf(c.stdout, "%s  key %s, value %q, %s\n", verb, ch.Key, ch.Value, effect)
	}
	return statusGood, nil
}

// runEdit shows what becomes of a node's taints.
func (c *command) runEdit(changes []taints.Change) (int, error) {
	cluster, err := c.cluster()
	if err != nil {
		return 0, err
	}
	for i := range cluster.Nodes {
		n := &cluster.Nodes[i]
		if n.Name != c.edit.node {
			continue
		}
		e, err := taints.Edit(n, changes, &taints.EditOptions{Kubectl: c.edit.kubectl, Overwrite: c.edit.overwrite})
		if err != nil {
			return 0, err
		}
		if c.format == "json" {
			return statusGood, c.printJSON(e)
		}
		fmt.Fprintf(c.stdout, "node/%s %s\n", n.Name, e.Verb)
		for _, part := range []struct {
			name string
			list []fairlead.Taint
		}{{"added", e.Added}, {"changed", e.Changed}, {"removed", e.Removed}, {"taints", e.Taints}} {
			if len(part.list) > 0 {
				fmt.Fprintf(c.stdout, "  %-8s %s\n", part.name, taintList(part.list))
			}
		}
		return statusGood, nil
	}
	return 0, fmt.Errorf("-node %s: there is no such node in the input", c.edit.node)
}

// taintList returns taints as one line.
func taintList(list []fairlead.Taint) string {
	words := make([]string, len(list))
	for i, t := range list {
		words[i] = t.String()
	}
	return strings.Join(words, " ")
}
