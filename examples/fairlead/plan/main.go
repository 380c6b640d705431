// Package plan is the verb plan: what is done to a whole cluster, in which order, or
// what stands in the way.
package plan

import (
	"fmt"

	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/examples/internal/situation"
)

// Command is the verb.
func Command() *args.Command {
	return &args.Command{
		Name:  "plan",
		Usage: "FILE|DIR " + situation.Usage + " [-o text|json]",
		About: "tell what is done to a whole cluster to take it to a release, proven best, or what stands in the way",
		Help: `FILE is what ` + situation.DumpCommand + ` prints;
DIR is a directory of such files. FILE may be - for standard input. A kind that is not in it counts as one that nobody has
looked at, unless -none says that there are none: the steps that rest on it say so.
` + situation.Help + `
exit status: 0 there is a plan, 1 there is none, 2 bad input`,
		Run: run,
	}
}

func run(c *args.Call) error {
	form := c.Choice("o", "text", "json")
	flags := situation.Declare(c)
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	goal, policy, err := flags.Question()
	if err != nil {
		return err
	}
	s, err := flags.Read(c, c.Args[0])
	if err != nil {
		return err
	}
	if !flags.Asked() {
		return &args.UsageError{Text: "say what is to come about: -to, -operator or -out"}
	}
	if s.Cluster == nil {
		return fmt.Errorf("%s: it holds no ClusterVersion; print one with: %s", c.Args[0], situation.DumpCommand)
	}
	return answer(c, &s.Situation, goal, policy, *form == "json")
}

// answer prints the plan, or why there is none.
func answer(c *args.Call, s *plan.Situation, goal *plan.Goal, policy *plan.Policy, asJSON bool) error {
	p, err := plan.Make(c.Context, s, goal, policy)
	if no, ok := err.(*plan.NoPlanError); ok {
		if asJSON {
			err = c.JSON(no)
		} else {
			_, err = fmt.Fprintln(c.Stdout, no)
		}
		if err == nil {
			err = args.ErrFindings
		}
		return err
	}
	if err != nil {
		return err
	}
	if asJSON {
		return c.JSON(p)
	}
	_, err = fmt.Fprint(c.Stdout, p)
	return err
}
