// Package taint is the verb taints: it answers questions about the taints of nodes
// and the tolerations of pods, from what kubectl prints.
package taint

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/taints"
)

// Command is the verb.
func Command() *args.Command { return verb(time.Now) }

// verb is Command at a time.
func verb(now func() time.Time) *args.Command {
	return &args.Command{
		Name:  "taints",
		About: "what taints mean for pods: where they go, when they must leave, what is odd",
		Help: `FILE is what "kubectl get nodes,pods,pdb -A -o json" prints; standard input if it
is not given. -f FILE says the same. -numbers lets tolerations compare numbers with
Lt and Gt.
exit status: 0 good, 1 not placed (explain) or something found (lint), 2 bad input`,
		Examples: `kubectl get nodes,pods,pdb -A -o json | fairlead taints explain -pod shop/web-0
			kubectl get nodes,pods,pdb -A -o json | fairlead taints lint
			fairlead taints whatif CLUSTER.json -event "nodes=n1 dark=12m"
			fairlead taints parse key=value:NoSchedule other-`,
		Commands: []*args.Command{
			{
				Name: "explain", Usage: "[FILE] [-pod [NAMESPACE/]NAME] [-node NAME] [-redact] [-numbers] [-o text|json|yaml]",
				About: "tell what the taints of a node mean for a pod, and what would change it; without -pod and -node each pod on its node, or, if it has none, on every node",
				Help:  "  -redact  hide keys and values",
				Run:   func(c *args.Call) error { return explain(c, now()) },
			},
			{Name: "matrix", Usage: "[FILE] [-numbers] [-o text|json|yaml]", About: "tell which pods can be placed on which nodes; those that are alike together", Run: placements},
			{Name: "lint", Usage: "[FILE] [-numbers] [-o text|json|yaml]", About: "tell which taints and tolerations are likely not meant", Run: lint},
			{
				Name: "whatif", Usage: "[FILE] -event EVENT... [-start TIME] [-horizon D] [-replacement D] [-respect-budgets] [-numbers] [-o text|json|yaml|svg]",
				About: "tell which pods would be evicted, and when, if something happened",
				Help: `  EVENT  words like nodes=n1,n2 zone=b taint=key=value:NoExecute taint=key:NoExecute-
         dark=12m after=5m; a taint that ends in "-" is taken off`,
				Run: whatIf,
			},
			{
				Name: "parse", Usage: "CHANGE... [-f FILE -node NAME [-kubectl] [-overwrite]] [-o text|json|yaml]",
				About: `read what "kubectl taint" takes; with -node show the change`,
				Help: `  CHANGE      key=value:Effect, key:Effect, key:Effect- or key-
  -kubectl    change as the command does: setting what is there, or removing what
              is not, is an error; -overwrite allows the first`,
				Run: parse,
			},
		},
	}
}

// input is what the commands share: the file that they read, and how it is
// understood.
type input struct {
	*args.Call
	file    string
	numbers bool
}

func newInput(c *args.Call) *input {
	in := &input{Call: c}
	c.Flags.StringVar(&in.file, "f", "-", "")
	c.Flags.BoolVar(&in.numbers, "numbers", false, "")
	return in
}

// parse reads the flags, and the file that may be named without one.
func (in *input) parse() error {
	if err := in.Parse(0, 1); err != nil {
		return err
	}
	if in.Arg(0) != "" {
		if in.file != "-" {
			return &args.UsageError{Text: "two files are named, -f " + in.file + " and " + in.Arg(0)}
		}
		in.file = in.Arg(0)
	}
	return nil
}

func (in *input) options() *taints.Options {
	return &taints.Options{ComparisonOperators: in.numbers}
}

// cluster reads the file.
func (in *input) cluster() (*taints.Cluster, error) {
	f, err := in.Open(in.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cluster, err := taints.ReadCluster(f)
	if err != nil {
		name := in.file
		if name == "-" {
			name = "standard input"
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return cluster, nil
}

// findings is what a command ends with that has printed what it had to, where
// something was found.
func findings(err error, found bool) error {
	if err == nil && found {
		return args.ErrFindings
	}
	return err
}
