// Package plan is the verb plan: what is done to a whole cluster, in which order, or
// what stands in the way.
package plan

import (
	"fmt"
	"os"
	"strings"

	"github.com/fairlead/fairlead/cvo/graph"
	"github.com/fairlead/fairlead/cvo/plan"
	"github.com/fairlead/fairlead/examples/internal/args"
)

// Command is the verb.
func Command() *args.Command {
	return &args.Command{
		Name:  "plan",
		Usage: "FILE [-to V] [-pause-workers] [-operator PACKAGE=VERSION]... [-out NODE]... [-graph FILE] [-catalog [MINOR=]PATH]... [-none KIND]... [-accept RISK]... [-keep THING]... [-least-disruption] [-at TIME] [-o text|json]",
		About: "tell what is done to a whole cluster to take it to a release, proven best, or what stands in the way",
		Help: `FILE is what ` + dumpCommand + ` prints.
It may be - for standard input. A kind that is not in it counts as one that nobody has looked
at, unless -none says that there are none: the steps that rest on it say so.
  -to V                  a release (4.20.3), a minor version (4.20: its newest release), or newest
  -pause-workers         pools but the control plane restart once, at the end
  -operator P=V          an installed operator is to be at a version
  -out NODE              a node is to be out of service
  -graph FILE            the update graph, as the update service answers; without it what the
                         ClusterVersion tells counts, which is one update far
  -catalog [MINOR=]PATH  the catalog that the installed operators are updated from, while the
                         cluster is at that minor version
  -none KIND             there are none: gates, pods, budgets, operators, members
  -accept RISK           take that risk
  -keep THING            leave alone: budgets, nodes, members, data, or the package of an operator
  -least-disruption      fewer restarts of nodes before fewer steps
  -at TIME               when it was printed, as in 2026-01-02T15:04:05Z
exit status: 0 there is a plan, 1 there is none, 2 bad input`,
		Run: run,
	}
}

func run(c *args.Call) error {
	form := c.Choice("o", "text", "json")
	to := c.Flags.String("to", "", "")
	graphFile := c.Flags.String("graph", "", "")
	pause := c.Flags.Bool("pause-workers", false, "")
	least := c.Flags.Bool("least-disruption", false, "")
	operators, out, none := c.Words("operator"), c.Words("out"), c.Words("none")
	accept, keep, catalogs := c.Words("accept"), c.Words("keep"), c.Words("catalog")
	at := c.Flags.String("at", "", "")
	if err := c.Parse(1, 1); err != nil {
		return err
	}
	if *to == "" && len(*operators)+len(*out) == 0 {
		return &args.UsageError{Text: "say what is to come about: -to, -operator or -out"}
	}
	src, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	defer src.Close()
	s, err := readSituation(src, c.Args[0], *at)
	if err != nil {
		return err
	}
	if err := s.operators(c.Context, *catalogs); err != nil {
		return err
	}
	if err := s.none(*none); err != nil {
		return err
	}
	if *graphFile != "" {
		text, err := os.ReadFile(*graphFile)
		if err != nil {
			return err
		}
		g, found := graph.Parse(text, &graph.Options{File: *graphFile})
		if g == nil {
			return found.Err()
		}
		if s.Moves, s.Risks, err = plan.FromGraph(g, s.Cluster.Status.Desired.Version, nil, graph.Evaluations{}); err != nil {
			return err
		}
		s.risks()
	}
	goal, err := goalOf(*to, *operators)
	if err != nil {
		return err
	}
	goal.PauseWorkers, goal.Nodes = *pause, *out
	policy := policyOf(*keep)
	policy.Accept = *accept
	if *least {
		policy.Prefer = plan.LeastDisruption
	}
	return answer(c, &s.Situation, goal, policy, *form == "json")
}

// goalOf reads what is asked for.
func goalOf(to string, operators []string) (*plan.Goal, error) {
	goal := &plan.Goal{}
	switch {
	case to == "newest":
		goal.Newest = true
	case strings.Count(to, ".") == 1:
		goal.Minor = to
	default:
		goal.Release = to
	}
	for _, o := range operators {
		name, version, ok := strings.Cut(o, "=")
		if !ok {
			return nil, &args.UsageError{Text: "-operator " + o + ": write PACKAGE=VERSION"}
		}
		goal.Operators = append(goal.Operators, plan.OperatorGoal{Package: name, Version: version})
	}
	return goal, nil
}

// policyOf reads what is to be left alone.
func policyOf(keep []string) *plan.Policy {
	policy := &plan.Policy{}
	for _, k := range keep {
		switch k {
		case "budgets":
			policy.KeepBudgets = true
		case "nodes":
			policy.KeepNodes = true
		case "members":
			policy.KeepMembers = true
		case "data":
			policy.Drain.KeepLocalStorage, policy.Drain.KeepUnmanaged = true, true
		default:
			policy.KeepOperators = append(policy.KeepOperators, k)
		}
	}
	return policy
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
