// Package plan is the verb plan: it plans the steps of an update of a whole cluster, or
// explains what prevents it.
package plan

import (
	"fmt"

	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/diagnosing"
	"github.com/fairlead/fairlead/examples/internal/situation"
	"github.com/fairlead/fairlead/internal/words"
)

// Command is the verb.
func Command() *args.Command {
	return &args.Command{
		Name:  "plan",
		Usage: "FILE|DIR " + situation.Usage + " [-play] [-faults SEED] [-o text|json|yaml|sh|mermaid]",
		About: "plan the update of a whole cluster to a release, with a proof that no plan is better, or explain what prevents it",
		Help: `FILE is the output of ` + situation.DumpCommand + `;
DIR is a directory of such files. FILE may be - for standard input. A kind that is missing counts as unknown, and the steps
that depend on it say so, unless -none says that there are none.
` + situation.Help + `
  -play                  run the plan on a cluster in memory, with the real engines, and compare the result with the plan,
                         including workloads that had fewer pods ready; -o mermaid draws it
  -o sh                  write a script that runs the commands, and stops at each "done when" until it is answered
  -faults SEED           with -play: inject random faults from this seed: calls fail, processes die, states are lost
exit status: 0 there is a plan (and -play completed it), 1 there is none, or it depends on something that could be
known now and is not, 2 bad input`,
		Examples: `fairlead plan all.yaml -to 4.20 -graph GRAPH.json
			fairlead plan all.yaml -to newest -graph GRAPH.json -pause-workers -play`,
		Configured: []string{"graph"},
		Run:        run,
	}
}

func run(c *args.Call) error {
	return Run(c, 1, func(flags *situation.Flags) (*situation.Situation, error) {
		s, err := flags.Read(c, c.Arg(0))
		if err == nil && s.Cluster == nil {
			err = flags.Without(c.Arg(0), "it contains no ClusterVersion", "print one with: "+situation.DumpCommand)
		}
		return s, err
	})
}

// Run plans for the situation that read returns. The call must have the given number of
// arguments.
func Run(c *args.Call, arguments int, read func(*situation.Flags) (*situation.Situation, error)) error {
	form := c.Choice("o", "text", "json", "sh", "mermaid")
	play := c.Flags.Bool("play", false, "")
	faults := c.Flags.Uint64("faults", 0, "")
	flags := situation.Declare(c)
	if err := c.Parse(0, arguments); err != nil {
		return err
	}
	goal, policy, err := flags.Question()
	if err != nil {
		return err
	}
	if *play && *form == "sh" {
		return &args.UsageError{Text: "-o sh writes a plan, not how it was played: leave out -play"}
	}
	if !*play && (*faults > 0 || *form == "mermaid") {
		return &args.UsageError{Text: "-faults and -o mermaid need -play"}
	}
	if !flags.Asked() {
		return &args.UsageError{Text: "name a goal: -to, -operator or -out"}
	}
	s, err := read(flags)
	if err != nil {
		return err
	}
	c.Doing("planning")
	p, err := plan.Make(c.Context, &s.Situation, goal, policy)
	if no, ok := err.(*plan.NoPlanError); ok {
		return refuse(c, no, s, *form)
	}
	if err != nil {
		return err
	}
	if *play {
		return playOut(c, &s.Situation, goal, policy, p, &plan.PlayOptions{Faults: *faults > 0, Seed: *faults}, *form)
	}
	switch *form {
	case "json":
		err = c.JSON(p)
	case "sh":
		err = p.WriteScript(c.Stdout)
	default:
		_, err = fmt.Fprint(c.Painted(args.Leading(tones)), p)
	}
	if err == nil && p.Guesses() {
		return args.ErrFindings
	}
	return err
}

// tones are the colours of the beginnings of a plan's lines on a terminal.
var tones = map[string]args.Colour{"unknown:": args.Warning, "there is no plan": args.Bad, "nothing to do": args.Good}

// refuse prints why there is no plan, and what is wrong in the cluster now; as a message if the
// output would be a script or a picture, which would else consist of it.
func refuse(c *args.Call, no *plan.NoPlanError, s *situation.Situation, form string) (err error) {
	out := c.Painted(args.Leading(tones))
	switch form {
	case "json":
		if err := c.JSON(no); err != nil {
			return err
		}
		return args.ErrFindings
	case "sh", "mermaid":
		out = c.Stderr
	}
	_, err = words.Fprintf(out, "%s\n", words.Text(no.Error()))
	if s.Snapshot != nil {
		diagnosing.AdviceOf(diagnosing.Of(s.Snapshot)).Tell(out, false)
	}
	if err != nil {
		return err
	}
	return args.ErrFindings
}

// playOut plays a plan and prints the result.
func playOut(c *args.Call, s *plan.Situation, goal *plan.Goal, policy *plan.Policy, p *plan.Plan, opts *plan.PlayOptions, form string) error {
	c.Doing("playing the plan")
	played, err := plan.Play(c.Context, s, goal, policy, p, opts)
	if err != nil {
		return err
	}
	switch form {
	case "json":
		err = c.JSON(struct {
			Plan   *plan.Plan   `json:"plan"`
			Played *plan.Played `json:"played"`
		}{p, played})
	case "mermaid":
		err = played.WriteMermaid(c.Stdout)
	default:
		_, err = words.Fprintf(c.Stdout, "%s\n%s", words.Text(p.String()), words.Text(played.String()))
	}
	if err == nil && !played.Done {
		err = args.ErrFindings
	}
	return err
}
