package taint

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/examples/internal/args"
	"github.com/fairlead/fairlead/taints"
	"github.com/fairlead/fairlead/taints/eviction"
	"github.com/fairlead/fairlead/taints/whatif"
)

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
			return e, errors.New("write words such as nodes=n1,n2 zone=b taint=key:NoExecute dark=12m after=5m")
		}
		if err != nil {
			return e, fmt.Errorf("%q: %w", word, err)
		}
	}
	return e, nil
}

// whatIf predicts evictions.
func whatIf(c *args.Call) error {
	in := newInput(c)
	format := c.Choice("o", "text", "json", "svg")
	var question whatif.Question
	var policy eviction.Policy
	c.Flags.Func("event", "", func(text string) error {
		e, err := parseEvent(text)
		question.Events = append(question.Events, e)
		return err
	})
	c.Flags.Func("start", "", func(text string) (err error) {
		question.Start, err = time.Parse(time.RFC3339, text)
		return err
	})
	c.Flags.DurationVar(&question.Horizon, "horizon", 0, "")
	c.Flags.DurationVar(&question.Replacement, "replacement", 0, "")
	c.Flags.BoolVar(&policy.RespectBudgets, "respect-budgets", false, "")
	if err := in.parse(); err != nil {
		return err
	}
	in.source.Kinds = []string{"Node", "Pod", "PodDisruptionBudget"}
	cluster, err := in.cluster()
	if err != nil {
		return err
	}
	if len(cluster.Nodes) == 0 {
		return fmt.Errorf("the input has no nodes; dump them: %s", dumpCommand)
	}
	if question.Start.IsZero() {
		question.Start = in.known.Clock.At
	}
	policy.Options = in.options()
	p, err := whatif.Predict(cluster, &question, &policy)
	if err != nil {
		return err
	}
	rests := []string{"Node", "Pod"}
	if policy.RespectBudgets {
		rests = append(rests, "PodDisruptionBudget")
	}
	switch *format {
	case "json":
		in.beside(rests...)
		err = c.JSON(p)
	case "svg":
		err = p.WriteSVG(c.Stdout)
	default:
		err = p.WriteText(c.Stdout)
	}
	return findings(err, in.unknown(*format, rests...))
}
