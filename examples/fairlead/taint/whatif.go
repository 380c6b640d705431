package taint

import (
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
	"github.com/fairlead/fairlead/taints/whatif"
)

type whatIfFlags struct {
	question whatif.Question
	policy   eviction.Policy
}

func (w *whatIfFlags) add(flags *flag.FlagSet) {
	flags.Func("event", "", func(text string) error {
		e, err := parseEvent(text)
		w.question.Events = append(w.question.Events, e)
		return err
	})
	flags.Func("start", "", func(text string) (err error) {
		w.question.Start, err = time.Parse(time.RFC3339, text)
		return err
	})
	flags.DurationVar(&w.question.Horizon, "horizon", 0, "")
	flags.DurationVar(&w.question.Replacement, "replacement", 0, "")
	flags.BoolVar(&w.policy.RespectBudgets, "respect-budgets", false, "")
}

// parseEvent reads words of the form name=value.
func parseEvent(text string) (whatif.Event, error) {
	var e whatif.Event
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "nodes":
			e.Nodes = strings.Split(value, ",")
		case "zone":
			e.Zone = value
		case "after":
			e.After, err = time.ParseDuration(value)
		case "dark":
			e.Dark, err = time.ParseDuration(value)
		case "taint":
			var c taints.Change
			if c, err = taints.ParseChange(value); err != nil {
				break
			}
			t := c.Taint()
			if c.Remove {
				e.Untaint = &t
			} else {
				e.Taint = &t
			}
		default:
			return e, fmt.Errorf("%q: a word of an event begins with nodes=, zone=, taint=, dark= or after=", word)
		}
		if err != nil {
			return e, fmt.Errorf("%q: %w", word, err)
		}
	}
	return e, nil
}

// runWhatIf predicts evictions.
func (c *command) runWhatIf() (int, error) {
	cluster, err := c.cluster()
	if err != nil {
		return 0, err
	}
	if len(cluster.Nodes) == 0 {
		return 0, fmt.Errorf("whatif: the input has no nodes; dump them: %s", dump)
	}
	c.whatIf.policy.Options = c.options()
	p, err := whatif.Predict(cluster, &c.whatIf.question, &c.whatIf.policy)
	if err != nil {
		return 0, err
	}
	switch c.format {
	case "json":
		return statusGood, c.printJSON(p)
	case "svg":
		return statusGood, p.WriteSVG(c.stdout)
	}
	return statusGood, p.WriteText(c.stdout)
}
