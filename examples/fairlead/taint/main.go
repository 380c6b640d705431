// Package taint is the verb taints: it answers questions about the taints of nodes
// and the tolerations of pods, from the output of kubectl.
package taint

import (
	"time"

	"github.com/fairlead/fairlead/cvo/snapshot"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/taints"
)

// Command is the verb.
func Command() *args.Command { return verb(time.Now) }

// inputHelp is the help about the input.
const inputHelp = `FILE is the output of "kubectl get nodes,pods,pdb -A -o json" or "-o yaml" (default: standard
input), or a directory with such files, such as a must-gather. -f FILE does the same. -numbers
allows tolerations that compare numbers with Lt and Gt.`

// verb is Command at a given time.
func verb(now func() time.Time) *args.Command {
	return &args.Command{
		Name:  "taints",
		About: "explain where pods can be scheduled, when they are evicted, and which taints look wrong",
		Help:  "exit status: 0 no findings, 1 a pod cannot be scheduled (explain) or findings (lint), 2 bad input",
		Examples: `kubectl get nodes,pods,pdb -A -o json | fairlead taints explain -pod shop/web-0
			kubectl get nodes,pods,pdb -A -o json | fairlead taints lint
			fairlead taints whatif CLUSTER.json -event "nodes=n1 dark=12m"
			fairlead taints parse key=value:NoSchedule other-`,
		Commands: []*args.Command{
			{
				Name: "explain", Usage: "[FILE] [-pod [NAMESPACE/]NAME] [-node NAME] [-v] [-redact] [-numbers] [-o text|json|yaml]",
				About: "explain what the taints of nodes mean for pods, and what would change that",
				Help: inputHelp + `
  -pod, -node  the pod and the node to explain; by default, each pod on its own node, or on every
               node if it has none
  -v           list each pod by itself, including those that can be scheduled where they run
  -redact      hide keys and values`,
				Run: func(c *args.Call) error { return explain(c, now()) },
			},
			{
				Name: "matrix", Usage: "[FILE] [-numbers] [-o text|json|yaml]",
				About: "show which pods can be scheduled on which nodes, with similar pods and nodes grouped",
				Help:  inputHelp, Run: placements,
			},
			{
				Name: "lint", Usage: "[FILE] [-numbers] [-o text|json|yaml]",
				About: "report taints and tolerations that are probably mistakes",
				Help:  inputHelp, Run: lint,
			},
			{
				Name: "whatif", Usage: "[FILE] -event EVENT... [-start TIME] [-horizon D] [-replacement D] [-respect-budgets] [-numbers] [-o text|json|yaml|svg]",
				About: "predict which pods an event would evict, and when",
				Help: inputHelp + `
  -event EVENT      words such as nodes=n1,n2 zone=b taint=key=value:NoExecute taint=key:NoExecute-
                    dark=12m after=5m; a taint that ends in "-" is removed, and dark is how long
                    the nodes do not report; may be repeated
  -start TIME       when the prediction begins, such as 2026-01-02T15:04:05Z (default: -at)
  -horizon D        how far to predict (default: 24h)
  -replacement D    how long it takes until a ready pod replaces an evicted one (default: none
                    ever does)
  -respect-budgets  evict pods only when disruption budgets allow it, or 10 minutes late`,
				Run: whatIf,
			},
			{
				Name: "parse", Usage: "CHANGE... [-f FILE -node NAME [-kubectl] [-overwrite]] [-o text|json|yaml]",
				About: `parse the arguments of "kubectl taint"; with -node, show the change`,
				Help: `  CHANGE      key=value:Effect, key:Effect, key:Effect- or key-
  -node NAME  the node to change, which is read from -f FILE (default: standard input); -numbers
              allows tolerations there that compare numbers with Lt and Gt
  -kubectl    behave like kubectl: adding an existing taint or removing a missing
              one is an error; -overwrite allows the former`,
				Run: parse,
			},
		},
	}
}

// input is what the commands share: the file that they read, and how to interpret
// it.
type input struct {
	*args.Call
	file    string
	numbers bool
	source  *reading.Source
	known   *snapshot.Snapshot
}

func newInput(c *args.Call) *input {
	in := &input{Call: c}
	c.Flags.StringVar(&in.file, "f", "", "")
	c.Flags.BoolVar(&in.numbers, "numbers", false, "")
	return in
}

// parse reads the flags, and the file, which may be named without a flag.
func (in *input) parse() error {
	in.source = reading.Declare(in.Call)
	if err := in.Parse(0, 1); err != nil {
		return err
	}
	if in.Arg(0) != "" {
		if in.file != "" {
			return &args.UsageError{Text: "two files are named, -f " + in.file + " and " + in.Arg(0)}
		}
		in.file = in.Arg(0)
	}
	return nil
}

func (in *input) options() *taints.Options {
	return &taints.Options{ComparisonOperators: in.numbers}
}

// cluster reads the file, JSON or YAML, or all files of a directory.
func (in *input) cluster() (*taints.Cluster, error) {
	s, err := in.source.Read(in.file)
	if err != nil {
		return nil, err
	}
	in.known = s
	return &taints.Cluster{Nodes: s.Nodes.Items, Pods: s.Pods.Items, Budgets: s.Budgets.Items}, nil
}

// unknown says which objects of kinds are not known, to standard output if that is text, and reports
// whether there are any.
func (in *input) unknown(format string, kinds ...string) bool {
	to := in.Stdout
	if format != "text" {
		to = in.Stderr
	}
	return reading.NotKnown(to, in.known.Missing(kinds...))
}

// beside puts what is not known of kinds beside the JSON that is printed.
func (in *input) beside(kinds ...string) {
	if gaps := in.known.Missing(kinds...); len(gaps) > 0 {
		in.Beside("unknown", gaps)
	}
}

// something was found.
func findings(err error, found bool) error {
	if err == nil && found {
		return args.ErrFindings
	}
	return err
}
