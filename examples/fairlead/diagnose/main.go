// Package diagnose has the verbs diagnose and explain: they say what a cluster waits for, why, and
// what to do next.
package diagnose

import (
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/page"
	"github.com/fairlead/fairlead/examples/internal/reading"
	"github.com/fairlead/fairlead/examples/internal/situation"
)

// Command is the verb diagnose.
func Command() *args.Command {
	return &args.Command{
		Name:  "diagnose",
		Usage: "[DUMP] [-to VERSION] [-at TIME] [-v] [-o text|json|yaml|dot|mermaid|svg]",
		About: "say what a cluster waits for, the causes, and what to do next, with commands that were tried on a copy",
		Help: `DUMP is a file, a directory or an archive, such as a must-gather, or - for standard input
  -at TIME           when the cluster was looked at (default: the latest time that a server wrote into the dump)
  -to VERSION        answer whether the update to VERSION may be started, and what must be done before
  -v                 leave nothing out: all causes and steps, and the messages behind them
  -o json            the whole graph of what waits for what; docs/diagnosis.md has its fields
  -o dot|mermaid|svg the same as a picture, in which what is alike is one
exit status: 0 all is well and known (with -to: the update may be started), 1 something is wrong or not known, 2 bad input`,
		Examples: `oc adm inspect ns/openshift-machine-config-operator clusterversion clusteroperators nodes && fairlead diagnose inspect.local.*
			kubectl get nodes,pods,pdb,replicasets,statefulsets -A -o yaml | fairlead diagnose -`,
		Run: run,
	}
}

func run(c *args.Call) error {
	form := c.Choice("o", "text", "json", "dot", "mermaid", "svg")
	all := c.Flags.Bool("v", false, "")
	to := c.Flags.String("to", "", "")
	from := reading.Declare(c)
	from.Informative = true
	if err := c.Parse(0, 1); err != nil {
		return err
	}
	if *to != "" && *form != "text" && *form != "json" {
		return &args.UsageError{Text: "-to has no picture: leave out -o " + *form}
	}
	if err := situation.CheckRelease(*to); err != nil {
		return err
	}
	s, err := from.Read(c.Arg(0))
	if err != nil {
		return err
	}
	if *to != "" {
		return mayStart(c, s, *to, *form)
	}
	c.Doing("diagnosing")
	d := diagnosing.Of(s)
	switch *form {
	case "json":
		err = c.JSON(d)
	case "dot":
		err = diagnosing.Drawing(&d.Graph).WriteDOT(c.Stdout)
	case "mermaid":
		err = diagnosing.Drawing(&d.Graph).WriteMermaid(c.Stdout)
	case "svg":
		err = diagnosing.Drawing(&d.Graph).WriteSVG(c.Stdout)
	default:
		b := page.NewBuffer(c.Stdout)
		if *all {
			whole(b, d)
		} else {
			Screen(b, d)
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
	"YES": args.Good, "NO:": args.Bad, "NOT YET": args.Warning,
	"HEALTHY": args.Good, "COMPLETED": args.Good, "NOTUPDATING": args.Good, "PROGRESSING": args.Good,
}
