// Package diagnose has the verbs diagnose and explain: they say what a cluster waits for, why, and
// what to do next.
package diagnose

import (
	"bytes"
	"time"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
)

// Command is the verb diagnose.
func Command() *args.Command {
	return &args.Command{
		Name:  "diagnose",
		Usage: "DUMP [-now TIME] [-v] [-o text|json|yaml|dot|mermaid]",
		About: "say what a cluster waits for, the causes, and what to do next, with commands that were tried on a copy",
		Help: `DUMP is a file or a directory, such as a must-gather, or - for standard input
  -now TIME          when the cluster was looked at (default: the latest time that a server wrote into the dump)
  -v                 leave nothing out: all causes and steps, and the messages behind them
  -o json            the whole graph of what waits for what; docs/tool/diagnose.md has its fields
  -o dot|mermaid     the same as a picture
exit status: 0 all is well and known, 1 something is wrong or not known, 2 bad input`,
		Examples: `oc adm inspect ns/openshift-machine-config-operator clusterversion clusteroperators nodes && fairlead diagnose inspect.local.*
			kubectl get nodes,pods,pdb,replicasets,statefulsets -A -o yaml | fairlead diagnose -`,
		Run: run,
	}
}

func run(c *args.Call) error {
	form := c.Choice("o", "text", "json", "dot", "mermaid")
	all := c.Flags.Bool("v", false, "")
	at := instant(c)
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	opened, err := diagnosing.Open(c, c.Args[0])
	if err != nil {
		return err
	}
	d := opened.Diagnose(c, *at)
	switch *form {
	case "json":
		err = c.JSON(d)
	case "dot":
		err = drawing(d).WriteDOT(c.Stdout)
	case "mermaid":
		err = drawing(d).WriteMermaid(c.Stdout)
	default:
		var b bytes.Buffer
		if *all {
			whole(&b, d)
		} else {
			Screen(&b, d)
		}
		_, err = c.Painted(args.Leading(tones)).Write(b.Bytes())
	}
	if err == nil && !d.Well() {
		return args.ErrFindings
	}
	return err
}

// tones are the colours of verdicts on a terminal.
var tones = map[string]args.Colour{
	"STALLED": args.Bad, "DEGRADED": args.Bad, "BLOCKED": args.Bad, "SLOW": args.Warning, "UNKNOWN": args.Warning, "NOT KNOWN": args.Warning,
	"HEALTHY": args.Good, "COMPLETED": args.Good, "NOTUPDATING": args.Good, "PROGRESSING": args.Good,
}

// instant reads a time of a flag.
func instant(c *args.Call) *time.Time {
	at := new(time.Time)
	c.Flags.Func("now", "", func(text string) (err error) {
		*at, err = time.Parse(time.RFC3339, text)
		return err
	})
	return at
}
